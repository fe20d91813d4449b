/** The accounts room: the session. Modules that only some pages need are exported by `lazy.ts`. */
export { type Session, session } from "./session.svelte";
