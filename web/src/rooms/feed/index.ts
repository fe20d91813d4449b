/** The feed room: what hangs at home. */
export { feed } from "./feed.svelte";
