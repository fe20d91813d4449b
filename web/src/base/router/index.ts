export { followLinks } from "./links";
export { matchPath, paths, safeNext } from "./match";
export { type Route, router, type Shown } from "./router.svelte";
