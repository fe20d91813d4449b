/** What other layers load of this room when they need it, without any of its pages. */
export { getOutbox } from "./encryptionSession";
