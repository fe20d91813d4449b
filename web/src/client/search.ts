/** Search, recent searches, and the pages of tags, places and explore. */
import { send } from "./http";
import type { PostPage, Schemas } from "./types";

export type SearchResults = Schemas["SearchResultsView"];
export type Recent = Schemas["RecentSearchView"];
export type TagPage = Schemas["TagPageView"];
export type PlacePage = Schemas["PlacePageView"];
export type Order = "newest" | "top";

const id = encodeURIComponent;

export const search = {
  query: (q: string, limit: number, signal: AbortSignal) =>
    send<SearchResults>("GET", "/search", { query: { q, limit }, signal }),
  findPosts: (q: string, cursor: string | null, limit: number) =>
    send<PostPage>("GET", "/search/posts", { query: { q, cursor, limit } }),
  getRecent: async () => (await send<Schemas["RecentSearchesView"]>("GET", "/search/recent")).searches,
  addRecent: (kind: Recent["kind"], subject: string) =>
    send<Recent>("POST", "/search/recent", { json: { kind, subject } }),
  removeRecent: (searchId: string) => send<null>("DELETE", `/search/recent/${id(searchId)}`),
  clearRecent: () => send<null>("DELETE", "/search/recent"),

  getTag: (tag: string) => send<Schemas["TagPageView"]>("GET", `/tags/${id(tag)}`),
  followTag: (tag: string, on: boolean) => send<null>(on ? "PUT" : "DELETE", `/tags/${id(tag)}/follow`),
  getFollowedTags: async (): Promise<readonly string[]> =>
    (await send<Schemas["FollowedTagsView"]>("GET", "/followed-tags")).tags,
  getTagPosts: (tag: string, order: Order, cursor: string | null, limit: number) =>
    send<PostPage>("GET", `/tags/${id(tag)}/posts`, { query: { order, cursor, limit } }),
  getPlace: (placeId: string) => send<PlacePage>("GET", `/places/${id(placeId)}`),
  getPlacePosts: (placeId: string, order: Order, cursor: string | null, limit: number) =>
    send<PostPage>("GET", `/places/${id(placeId)}/posts`, { query: { order, cursor, limit } }),
  getExplore: (cursor: string | null, limit: number) =>
    send<PostPage>("GET", "/explore", { query: { cursor, limit } }),
} as const;
