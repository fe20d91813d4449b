/** Searching as one types, what one searched for lately, and the pages of tags and places. */
import { send } from "./http";
import type { PostPage, Schemas } from "./types";

export type Found = Schemas["FoundView"];
export type PersonFound = Schemas["search_PersonView"];
export type Recent = Schemas["RecentView"];
export type PlacePage = Schemas["PlacePageView"];
export type Order = "newest" | "top";

const id = encodeURIComponent;

export const finding = {
  search: (q: string, limit: number, signal: AbortSignal) =>
    send<Found>("GET", "/search", { query: { q, limit }, signal }),
  getRecent: async () => (await send<Schemas["RecentsView"]>("GET", "/search/recent")).searches,
  remember: (kind: Recent["kind"], subject: string) =>
    send<Recent>("POST", "/search/recent", { json: { kind, subject } }),
  forget: (searchId: string) => send<null>("DELETE", `/search/recent/${id(searchId)}`),
  forgetAll: () => send<null>("DELETE", "/search/recent"),

  getTag: (tag: string) => send<Schemas["TagView"]>("GET", `/tags/${id(tag)}`),
  getTagPosts: (tag: string, order: Order, cursor: string | null, limit: number) =>
    send<PostPage>("GET", `/tags/${id(tag)}/posts`, { query: { order, cursor, limit } }),
  getPlace: (placeId: string) => send<PlacePage>("GET", `/places/${id(placeId)}`),
  getPlacePosts: (placeId: string, order: Order, cursor: string | null, limit: number) =>
    send<PostPage>("GET", `/places/${id(placeId)}/posts`, { query: { order, cursor, limit } }),
  getExplore: (cursor: string | null, limit: number) =>
    send<PostPage>("GET", "/explore", { query: { cursor, limit } }),
} as const;
