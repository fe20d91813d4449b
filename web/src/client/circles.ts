/** Whom one keeps away, and whom one keeps close. */
import { send } from "./http";
import type { Schemas } from "./types";

export type Circle = "blocks" | "mutes" | "restrictions" | "close-friends";
export type CirclePerson = Schemas["people_PersonView"];

export const listCircle = (circle: Circle, cursor: string | null) =>
  send<Schemas["people_PeopleView"]>("GET", `/${circle}`, { query: { cursor, limit: 30 } });

export const takeOut = (circle: Circle, accountId: string) =>
  send<null>("DELETE", `/${circle}/${encodeURIComponent(accountId)}`);

export const takeIn = (circle: Circle, accountId: string) =>
  send<null>("PUT", `/${circle}/${encodeURIComponent(accountId)}`, circle === "mutes" ? { json: {} } : {});
