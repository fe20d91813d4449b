/** The moderation room: whether the viewer is a moderator. The queue, the log and the dialogs load on demand. */
export { staff } from "./staff.svelte";
