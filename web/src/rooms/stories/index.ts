/** The stories room. */
export { default as Tray } from "./Tray.svelte";
export { tray } from "./tray.svelte";
