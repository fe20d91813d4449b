/**
 * Offline mutations: the writes that can be queued while there is no connection. Each is idempotent, so sending it twice is
 * safe: likes, saves and follows state the desired value, and a comment carries an Idempotency-Key.
 */
import { type Schemas, send } from "../client";

export type Comment = Schemas["CommentView"];

interface ToggleMutation {
  readonly kind: "like" | "save" | "follow" | "commentLike";
  /** The id of the post, account or comment. */
  readonly id: string;
  readonly on: boolean;
}

export interface CommentMutation {
  readonly kind: "comment";
  /** The id of the post. */
  readonly id: string;
  readonly text: string;
  readonly replyTo: string | null;
  /** The Idempotency-Key, created once when the comment is written. */
  readonly key: string;
}

export type Mutation = ToggleMutation | CommentMutation;
export type MutationKind = Mutation["kind"];
export type ToggleKind = ToggleMutation["kind"];

/** Identifies what the mutation is about: a later one with the same key replaces an earlier one. Every comment has its own. */
export function mutationKey(mutation: Mutation): string {
  return `${mutation.kind}:${mutation.kind === "comment" ? mutation.key : mutation.id}`;
}

const paths = {
  like: (id: string) => `/posts/${id}/like`,
  save: (id: string) => `/posts/${id}/save`,
  follow: (id: string) => `/accounts/${id}/follow`,
  commentLike: (id: string) => `/comments/${id}/like`,
} as const;

/** Sends the mutation; resolves to the comment it created, if any, or rejects with a Problem. */
export function sendMutation(mutation: Mutation): Promise<Comment | null> {
  const id = encodeURIComponent(mutation.id);
  if (mutation.kind === "comment")
    return send<Comment>("POST", `/posts/${id}/comments`, {
      json: { text: mutation.text, reply_to: mutation.replyTo },
      headers: { "Idempotency-Key": mutation.key },
    });
  const isSaving = mutation.kind === "save" && mutation.on;
  return send<null>(mutation.on ? "PUT" : "DELETE", paths[mutation.kind](id), isSaving ? { json: {} } : {});
}
