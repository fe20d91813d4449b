/** The endpoints of the first screen and of signing in; the other modules of this folder hold the rest, each loaded with its pages. */
import { send } from "./http";
import type {
  Account,
  NewPost,
  Post,
  PostPage,
  Profile,
  SecondFactorChallenge,
  UploadedMedia,
} from "./types";
import { type UploadOptions, upload } from "./upload";

interface SignedIn {
  readonly account: Account;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export type NewPerson = Credentials & { full_name?: string; email?: string; invitation?: string };

const id = encodeURIComponent;

export const api = {
  join: async (person: NewPerson): Promise<Account> =>
    (await send<SignedIn>("POST", "/accounts", { json: person })).account,
  /** The account, or the second-factor challenge that stands between. */
  logIn: async (credentials: Credentials): Promise<Account | SecondFactorChallenge> => {
    const response = await send<SignedIn | SecondFactorChallenge>("POST", "/sessions", { json: credentials });
    return "account" in response ? response.account : response;
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
  /** The idempotency key makes a retry after a lost response return the first post instead of creating a second one. */
  publish: (post: NewPost, idempotencyKey: string) =>
    send<Post>("POST", "/posts", { json: post, headers: { "Idempotency-Key": idempotencyKey } }),
  getPost: (postId: string) => send<Post>("GET", `/posts/${id(postId)}`),
  like: (postId: string) => send<null>("PUT", `/posts/${id(postId)}/like`),
  unlike: (postId: string) => send<null>("DELETE", `/posts/${id(postId)}/like`),

  getFeed: (mode: "ranked" | "following", cursor: string | null, limit: number) =>
    send<PostPage>("GET", "/feed", { query: { mode, cursor, limit } }),
} as const;
