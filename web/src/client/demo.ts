/** Filling a fresh site with invented people. */
import { send } from "./http";
import type { Schemas } from "./types";

export type DemoStand = Schemas["DemoView"];

export const findDemo = () => send<DemoStand>("GET", "/demo");
export const beginDemo = () => send<DemoStand>("POST", "/demo");
