/** The accounts room: who is here. What pages bring along when they need it stands behind the door `later`. */
export { type Session, session } from "./session.svelte";
