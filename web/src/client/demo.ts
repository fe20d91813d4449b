/** The demo job, which fills a new site with invented people. */
import { send } from "./http";
import type { Schemas } from "./types";

export type DemoStatus = Schemas["DemoView"];

export const getDemoStatus = () => send<DemoStatus>("GET", "/demo");
export const startDemo = () => send<DemoStatus>("POST", "/demo");
