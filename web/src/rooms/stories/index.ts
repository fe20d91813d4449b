/** The stories room: what lives for a day. */
export { default as Tray } from "./Tray.svelte";
export { tray } from "./tray.svelte";
