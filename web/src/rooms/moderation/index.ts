/** The moderation room: who moderates; the queue, the log and the dialogs are fetched when they are asked for. */
export { staff } from "./staff.svelte";
