/** The accounts room: who is here, and the ways in. */
export { type Session, session } from "./session.svelte";
