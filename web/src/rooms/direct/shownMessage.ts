/** A message as it is shown: what the server has, with the changes of this device that are on their way applied to it. */
import type { Author } from "../../client";
import type { Message } from "../../client/direct";
import type { QueuedChange } from "../../live";

export interface ShownMessage extends Message {
  /** Stays the same while a message that was just written becomes one that the server has. */
  readonly key: string;
  readonly status: QueuedChange["status"];
  /** The change in the queue; null where nothing of it is on its way. */
  readonly localId: string | null;
  readonly problem: QueuedChange["problem"];
  /** The file of a message that is not sent yet, to be shown from this device. */
  readonly file: File | null;
}

/** The messages, oldest first, with the queue's changes applied. `viewer` writes the new ones. */
export function applyQueued(
  messages: readonly Message[],
  queued: readonly QueuedChange[],
  viewer: Author | null,
): ShownMessage[] {
  const localIds = new Map(queued.map(({ result, localId }) => [result?.message_id, localId]));
  const known = new Map<string, ShownMessage>();
  for (const message of messages) {
    const key = localIds.get(message.message_id) ?? message.message_id;
    known.set(message.message_id, {
      ...message,
      key,
      status: "sent",
      localId: null,
      problem: null,
      file: null,
    });
  }
  const written: ShownMessage[] = [];
  for (const each of queued) {
    if (each.change.kind === "send") {
      if (!known.has(each.result?.message_id ?? "")) written.push(compose(each, known, viewer));
    } else if (each.status !== "failed") {
      const target = known.get(each.change.body.message_id);
      if (target !== undefined) known.set(target.message_id, withChange(target, each, viewer));
    }
  }
  return [...known.values(), ...written];
}

/** A message that is not among the server's yet. */
function compose(
  { change, localId, threadId, status, at_ms, problem, result }: QueuedChange,
  known: ReadonlyMap<string, ShownMessage>,
  viewer: Author | null,
): ShownMessage {
  const body = change.body as Readonly<Record<string, unknown>>;
  const file = change.kind === "send" ? (change.file ?? null) : null;
  const quoted = known.get(String(body["reply_to"] ?? ""));
  return {
    key: localId,
    localId,
    status,
    problem,
    file,
    message_id: result?.message_id ?? "",
    thread_id: threadId,
    number: result?.number ?? Number.MAX_SAFE_INTEGER,
    author: viewer,
    is_own: true,
    kind: kindOf(body, file),
    text: String(body["text"] ?? ""),
    is_hidden: false,
    reply_to: quoted
      ? { message_id: quoted.message_id, account_id: quoted.author?.account_id ?? null, text: quoted.text }
      : null,
    media: null,
    voice: null,
    post: null,
    story: null,
    sealed: null,
    reactions: [],
    created_at: new Date(at_ms).toISOString(),
    edited_at: null,
    expires_at: null,
    after_seen_s: null,
  };
}

function kindOf(body: Readonly<Record<string, unknown>>, file: File | null): ShownMessage["kind"] {
  if (file !== null) return file.type.startsWith("audio/") ? "voice" : "media";
  if (body["media_id"]) return "media";
  if (body["post_id"]) return "post";
  return body["story_id"] ? "story" : "text";
}

/** The message with an edit, a reaction or its withdrawal applied. */
export function applyChange<T extends Message>(
  message: T,
  { change, at_ms }: QueuedChange,
  viewer: Author | null,
): T {
  if (change.kind === "edit")
    return { ...message, text: change.body.text, edited_at: new Date(at_ms).toISOString() };
  if (change.kind === "unsend") return { ...message, ...EMPTY };
  if (change.kind !== "react" || viewer === null) return message;
  const others = message.reactions.filter(({ account_id }) => account_id !== viewer.account_id);
  const own = change.body.emoji === null ? [] : [{ account_id: viewer.account_id, emoji: change.body.emoji }];
  return { ...message, reactions: [...others, ...own] };
}

/** A reaction is shown as if it had arrived; an edit is on its way. */
function withChange(message: ShownMessage, queued: QueuedChange, viewer: Author | null): ShownMessage {
  const changed = applyChange(message, queued, viewer);
  return queued.change.kind === "edit" ? { ...changed, status: "pending", localId: queued.localId } : changed;
}

const EMPTY = {
  kind: "unsent",
  text: "",
  media: null,
  voice: null,
  post: null,
  story: null,
  sealed: null,
  reply_to: null,
  reactions: [],
} as const satisfies Partial<Message>;
