/**
 * What a person may wish for without a connection. Each is safe to send twice: likes, saves and follows say how
 * things shall be, a comment carries a key by which the server knows it again.
 */
import { Problem, type Schemas, send } from "../client";

export type Comment = Schemas["CommentView"];

interface Setting {
  readonly kind: "like" | "save" | "follow" | "commentLike";
  /** The post, the account or the comment. */
  readonly id: string;
  readonly on: boolean;
}

export interface Saying {
  readonly kind: "comment";
  readonly id: string;
  readonly text: string;
  readonly replyTo: string | null;
  /** The Idempotency-Key: drawn once, when the comment is written. */
  readonly key: string;
}

export type Wish = Setting | Saying;
export type Kind = Wish["kind"];
export type SettingKind = Setting["kind"];

/** Wishes about the same thing replace each other; every comment is a thing of its own. */
export function subjectOf(wish: Wish): string {
  return `${wish.kind}:${wish.kind === "comment" ? wish.key : wish.id}`;
}

const places = {
  like: (id: string) => `/posts/${id}/like`,
  save: (id: string) => `/posts/${id}/save`,
  follow: (id: string) => `/accounts/${id}/follow`,
  commentLike: (id: string) => `/comments/${id}/like`,
} as const;

/** Made so on the server, or rejected with a Problem. */
export function perform(wish: Wish): Promise<Comment | null> {
  const id = encodeURIComponent(wish.id);
  if (wish.kind === "comment")
    return send<Comment>("POST", `/posts/${id}/comments`, {
      json: { text: wish.text, reply_to: wish.replyTo },
      headers: { "Idempotency-Key": wish.key },
    });
  const isSaving = wish.kind === "save" && wish.on;
  return send<null>(wish.on ? "PUT" : "DELETE", places[wish.kind](id), isSaving ? { json: {} } : {});
}

export type Fate = "later" | "signedOut" | "refused";

/** What a failed attempt means for a wish that waits. */
export function fateOf(error: unknown): Fate {
  if (!(error instanceof Problem)) return "refused";
  if (error.status === 401) return "signedOut";
  const isPassing = error.status === 0 || [408, 425, 429].includes(error.status) || error.status >= 500;
  return isPassing ? "later" : "refused";
}

/** The server was not reached at all, or somebody before it said that it is away. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Problem && [0, 502, 503, 504].includes(error.status);
}
