/** Profiles, followers, follow requests, suggestions and relations. */
import { send } from "./http";
import type { PostPage, Schemas } from "./types";

export type ProfilePage = Schemas["ProfileView"];
export type Tile = Schemas["GridPostView"];
export type PersonInList = Schemas["PersonView"];
export type People = Schemas["PeopleView"];
export type Relation = Schemas["RelationView"];
export type Mutuals = Schemas["MutualsView"];
export type Suggestion = Schemas["SuggestionView"];
export type Highlight = Schemas["HighlightCardView"];

interface Paged {
  readonly cursor: string | null;
  readonly limit: number;
}

const id = encodeURIComponent;

export const people = {
  getProfile: (username: string, signal: AbortSignal) =>
    send<ProfilePage>("GET", `/profiles/${id(username)}`, { signal }),
  getPosts: (accountId: string, query: Paged) =>
    send<PostPage>("GET", `/accounts/${id(accountId)}/posts`, { query: { ...query } }),
  getTagged: (accountId: string, query: Paged) =>
    send<PostPage>("GET", `/accounts/${id(accountId)}/tagged`, { query: { ...query } }),
  getArchive: (query: Paged) => send<PostPage>("GET", "/accounts/me/archive", { query: { ...query } }),
  getHighlights: async (accountId: string) =>
    (await send<{ highlights: Highlight[] }>("GET", `/accounts/${id(accountId)}/highlights`)).highlights,

  getFollowers: (accountId: string, query: Paged) =>
    send<People>("GET", `/accounts/${id(accountId)}/followers`, { query: { ...query } }),
  getFollowing: (accountId: string, query: Paged) =>
    send<People>("GET", `/accounts/${id(accountId)}/following`, { query: { ...query } }),
  getMutuals: (accountId: string) => send<Mutuals>("GET", `/accounts/${id(accountId)}/mutuals`),
  getRequests: (query: Paged) => send<People>("GET", "/follow-requests", { query: { ...query } }),
  getSuggestions: async (limit: number) =>
    (await send<Schemas["SuggestionsView"]>("GET", "/suggestions", { query: { limit } })).suggestions,
  dismissSuggestion: (accountId: string) => send<null>("DELETE", `/suggestions/${id(accountId)}`),

  getRelation: (accountId: string) => send<Relation>("GET", `/accounts/${id(accountId)}/relation`),
  approve: (accountId: string) => send<null>("PUT", `/follow-requests/${id(accountId)}`),
  decline: (accountId: string) => send<null>("DELETE", `/follow-requests/${id(accountId)}`),
  removeFollower: (accountId: string) => send<null>("DELETE", `/followers/${id(accountId)}`),
} as const;
