/** The viewer's lists of people: blocked, muted, restricted, close friends. */
import { send } from "./http";
import type { Schemas } from "./types";

export type PeopleList = "blocks" | "mutes" | "restrictions" | "close-friends";
export type ListedPerson = Schemas["PersonView"];

export const getPeopleList = (list: PeopleList, cursor: string | null) =>
  send<Schemas["PeopleView"]>("GET", `/${list}`, { query: { cursor, limit: 30 } });

/** Adds somebody to the list or removes them. */
export const setListed = (list: PeopleList, accountId: string, isListed: boolean) =>
  send<null>(
    isListed ? "PUT" : "DELETE",
    `/${list}/${encodeURIComponent(accountId)}`,
    isListed && list === "mutes" ? { json: {} } : {},
  );

/** Blocks somebody by name, also somebody who is hidden from the viewer by a block of theirs. */
export const blockByName = (username: string) => send<null>("POST", "/blocks", { json: { username } });

/** Mutes or unmutes somebody's posts, their stories, or both. */
export const mute = (accountId: string, what: { posts?: boolean; stories?: boolean }) =>
  send<null>("PUT", `/mutes/${encodeURIComponent(accountId)}`, { json: what });
