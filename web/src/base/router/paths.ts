/** Matches paths against route patterns, and builds paths. In a pattern `:name` stands for a segment or the rest of one ("/@:name"). */

import { encodeShortCode } from "../shortCode";

export type RouteParams = Readonly<Record<string, string>>;

/** The parameters of `path` under `pattern`, or null when it does not match. */
export function matchPath(pattern: string, path: string): RouteParams | null {
  const wanted = segments(pattern);
  const given = segments(path);
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    if (!matchSegment(segment, given[index] ?? "", params)) return null;
  }
  return params;
}

function matchSegment(pattern: string, given: string, params: Record<string, string>): boolean {
  const colon = pattern.indexOf(":");
  if (colon < 0) return pattern === given;
  const prefix = pattern.slice(0, colon);
  const value = decode(given);
  if (value === null || !value.startsWith(prefix) || value.length === prefix.length) return false;
  params[pattern.slice(colon + 1)] = value.slice(prefix.length);
  return true;
}

function segments(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null; // A malformed escape in a typed address is a page that does not exist.
  }
}

/** The path to continue at after logging in, limited to this site to rule out open redirects. */
export function safeNext(next: string | null): string {
  return next !== null && /^\/(?![/\\])/.test(next) ? next : "/";
}

export const paths = {
  home: () => "/",
  login: (next?: string) =>
    next === undefined || next === "/" ? "/login" : `/login?next=${encodeURIComponent(next)}`,
  join: (next?: string) =>
    next === undefined || next === "/" ? "/join" : `/join?next=${encodeURIComponent(next)}`,
  firstSteps: (next?: string) =>
    next === undefined || next === "/" ? "/welcome" : `/welcome?next=${encodeURIComponent(next)}`,
  create: () => "/create",
  preferences: () => "/preferences",
  forgot: () => "/forgot-password",
  settings: (section?: string) => (section === undefined ? "/settings" : `/settings/${section}`),
  profile: (username: string) => `/@${encodeURIComponent(username)}`,
  newStory: () => "/stories/new",
  stories: (accountId: string) => `/stories/${encodeURIComponent(accountId)}`,
  post: (postId: string) => `/p/${encodeShortCode(postId)}`,
  tagged: (username: string) => `/@${encodeURIComponent(username)}/tagged`,
  followers: (username: string) => `/@${encodeURIComponent(username)}/followers`,
  following: (username: string) => `/@${encodeURIComponent(username)}/following`,
  saved: () => "/saved",
  collection: (collectionId: string) => `/saved/${collectionId}`,
  highlight: (highlightId: string) => `/highlights/${highlightId}`,
  archive: () => "/archive",
  scheduled: () => "/scheduled",
  requests: () => "/requests",
  suggestions: () => "/suggestions",
  search: (words = "") => (words === "" ? "/search" : `/search?q=${encodeURIComponent(words)}`),
  explore: () => "/explore",
  tag: (tag: string) => `/tags/${encodeURIComponent(tag)}`,
  place: (placeId: string) => `/places/${encodeURIComponent(placeId)}`,
  activity: () => "/activity",
  /** The inbox; a folder of it; a conversation, by its id; or the search. */
  messages: (view?: string) => (view === undefined ? "/messages" : `/messages/${view}`),
  decisions: () => "/decisions",
  moderation: () => "/moderation",
  moderationCase: (caseId: string) => `/moderation/cases/${caseId}`,
  moderationLog: () => "/moderation/log",
} as const;
