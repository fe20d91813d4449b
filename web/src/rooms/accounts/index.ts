/** The accounts room: who is here, and the ways in. */
export { type Session, session } from "./session.svelte";
export { default as Welcome } from "./Welcome.svelte";
