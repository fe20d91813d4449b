/** The route of the home page, which is part of the initial bundle. */
import type { Route } from "../base/router";
import HomePage from "../rooms/feed/HomePage.svelte";

export const homeRoute: Route = {
  pattern: "/",
  audience: "anyone",
  load: async () => ({ default: HomePage }),
};
