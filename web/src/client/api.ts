/** Every endpoint the app calls, by the verb people use for it. */
import { send } from "./http";
import type { Account, Asked, NewPost, Post, PostPage, Profile, UploadedMedia } from "./types";
import { type UploadOptions, upload } from "./upload";

interface SignedIn {
  readonly account: Account;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export type NewPerson = Credentials & { full_name?: string; email?: string };

const id = encodeURIComponent;

export const api = {
  join: async (person: NewPerson): Promise<Account> =>
    (await send<SignedIn>("POST", "/accounts", { json: person })).account,
  /** The account, or what else it asks for. */
  logIn: async (credentials: Credentials): Promise<Account | Asked> => {
    const answer = await send<SignedIn | Asked>("POST", "/sessions", { json: credentials });
    return "account" in answer ? answer.account : answer;
  },
  logOut: () => send<null>("DELETE", "/sessions/current"),
  getMe: () => send<Account>("GET", "/accounts/me"),

  getProfile: (username: string, signal?: AbortSignal) =>
    send<Profile>("GET", `/accounts/by-name/${id(username)}`, signal ? { signal } : {}),
  getPostsOf: (accountId: string, cursor: string | null, limit: number) =>
    send<PostPage>("GET", `/accounts/${id(accountId)}/posts`, { query: { cursor, limit } }),
  follow: (accountId: string) => send<null>("PUT", `/accounts/${id(accountId)}/follow`),
  unfollow: (accountId: string) => send<null>("DELETE", `/accounts/${id(accountId)}/follow`),

  uploadMedia: (file: File, options?: UploadOptions) => upload<UploadedMedia>("/media/upload", file, options),
  /** The key makes a repeated publish, after a lost answer, return the first post instead of a second one. */
  publish: (post: NewPost, idempotencyKey: string) =>
    send<Post>("POST", "/posts", { json: post, headers: { "Idempotency-Key": idempotencyKey } }),
  getPost: (postId: string) => send<Post>("GET", `/posts/${id(postId)}`),
  like: (postId: string) => send<null>("PUT", `/posts/${id(postId)}/like`),
  unlike: (postId: string) => send<null>("DELETE", `/posts/${id(postId)}/like`),

  getFeed: (mode: "ranked" | "following", cursor: string | null, limit: number) =>
    send<PostPage>("GET", "/feed", { query: { mode, cursor, limit } }),
} as const;
