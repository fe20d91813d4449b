/** The feed room: the home feed. */
export { feed } from "./feed.svelte";
