/** What this device has read: kept by message, since the keys that opened it are gone. */
import type { Content } from "./content";
import type { KeyStore, Writes } from "./keyStore";

/** Why a message cannot be shown: sent before this device was in the conversation, or broken. */
export type Unreadable = "before_joining" | "failed" | "unknown";

export interface ReadMessage {
  readonly threadId: string;
  readonly messageId: string;
  readonly number: number;
  /** Who has signed it, by the tree and not by the server's word. */
  readonly accountId: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly content: Content | null;
  readonly unreadable: Unreadable | null;
}

/** A message with all that was changed about it since. */
export interface ShownMessage extends ReadMessage {
  readonly text: string;
  readonly isEdited: boolean;
  readonly reactions: ReadonlyMap<string, string>;
}

const EDIT_WITHIN_MS = 15 * 60_000;
const WIDTH = 19;

const sortKey = (messageId: string) => messageId.padStart(WIDTH, "0");
const keyOf = (threadId: string, messageId: string) => `message:${threadId}:${sortKey(messageId)}`;

export function writesOf(message: ReadMessage): Writes {
  return { [keyOf(message.threadId, message.messageId)]: message };
}

export class History {
  readonly #store: KeyStore;

  constructor(store: KeyStore) {
    this.#store = store;
  }

  find(threadId: string, messageId: string): Promise<ReadMessage | null> {
    return this.#store.get<ReadMessage>(keyOf(threadId, messageId));
  }

  /** Everything that was read in a conversation and has not disappeared, changes included, the oldest first. */
  async list(threadId: string, now = Date.now()): Promise<ReadMessage[]> {
    const all = await this.#store.list<ReadMessage>(`message:${threadId}:`);
    return all.filter((each) => each.expiresAt === null || Date.parse(each.expiresAt) > now);
  }

  async add(messages: readonly ReadMessage[]): Promise<void> {
    await this.#store.write(Object.assign({}, ...messages.map(writesOf)) as Writes);
  }

  /** Forgets messages that were unsent. */
  async remove(threadId: string, messageIds: readonly string[]): Promise<void> {
    await this.#store.write(Object.fromEntries(messageIds.map((each) => [keyOf(threadId, each), null])));
  }

  /** Deletes what has disappeared. */
  async expire(threadId: string, now = Date.now()): Promise<void> {
    const all = await this.#store.list<ReadMessage>(`message:${threadId}:`);
    const gone = all.filter((each) => each.expiresAt !== null && Date.parse(each.expiresAt) <= now);
    if (gone.length > 0)
      await this.remove(
        threadId,
        gone.map((each) => each.messageId),
      );
  }

  /** Messages as they are shown: edits of their authors within 15 minutes, and everybody's last reaction, applied. */
  async show(threadId: string): Promise<ShownMessage[]> {
    return fold(await this.list(threadId));
  }
}

export function fold(messages: readonly ReadMessage[]): ShownMessage[] {
  const shown = new Map<string, ShownMessage>();
  for (const each of messages) {
    const { content } = each;
    if (content === null || content.type === "text" || content.type === "file") {
      shown.set(each.messageId, {
        ...each,
        text: content?.text ?? "",
        isEdited: false,
        reactions: new Map(),
      });
      continue;
    }
    const target = shown.get(content.to);
    if (target !== undefined) shown.set(content.to, apply(target, each, content));
  }
  return [...shown.values()];
}

function apply(
  target: ShownMessage,
  change: ReadMessage,
  content: Extract<Content, { type: "reaction" | "edit" }>,
): ShownMessage {
  if (content.type === "reaction") {
    const reactions = new Map(target.reactions);
    if (content.emoji === null) reactions.delete(change.accountId);
    else reactions.set(change.accountId, content.emoji);
    return { ...target, reactions };
  }
  const isInTime = Date.parse(change.createdAt) - Date.parse(target.createdAt) <= EDIT_WITHIN_MS;
  return change.accountId === target.accountId && isInTime
    ? { ...target, text: content.text, isEdited: true }
    : target;
}
