export { handleLinkClicks } from "./links";
export { matchPath, paths, safeNext } from "./paths";
export { type ResolvedRoute, type Route, router } from "./router.svelte";
