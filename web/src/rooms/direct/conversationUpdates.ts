/** What the live connection tells of one thread, applied to it. */
import { isNotFound } from "../../client";
import { direct, type Message } from "../../client/direct";
import { type KnownUpdate, live } from "../../live";
import type { Conversation } from "./conversation.svelte";

const KINDS = ["direct.message", "direct.message_changed", "direct.thread", "direct.seen"] as const;

export class ConversationUpdates {
  readonly #conversation: Conversation;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  listen(): () => void {
    return live.onUpdates(KINDS, (update) => {
      if (update.payload.thread_id === this.#conversation.threadId) void this.#apply(update);
    });
  }

  async #apply(update: KnownUpdate<(typeof KINDS)[number]>): Promise<void> {
    if (update.kind === "direct.message") await this.#add(update);
    else if (update.kind === "direct.message_changed") await this.fetch(update.payload.message_id);
    else if (update.kind === "direct.thread") await this.#conversation.refreshThread();
    else this.#see(update.payload);
  }

  /** A plain text is shown as it came; anything else is fetched. */
  async #add({ at, payload }: KnownUpdate<"direct.message">): Promise<void> {
    this.#conversation.typing.stop(payload.account_id);
    if (this.#conversation.messages.some(({ message_id }) => message_id === payload.message_id)) return;
    const message = this.#compose(at, payload);
    if (message === null) await this.fetch(payload.message_id);
    else this.#conversation.merge(message);
  }

  #compose(at: string, payload: KnownUpdate<"direct.message">["payload"]): Message | null {
    const { thread, viewer } = this.#conversation;
    const author = thread?.members.find(({ person }) => person.account_id === payload.account_id)?.person;
    const isPlain = payload.kind === "text" && payload.text !== null && payload.reply_to_id === null;
    if (!isPlain || author === undefined || thread === null || thread.disappear_s !== null) return null;
    return {
      message_id: payload.message_id,
      thread_id: payload.thread_id,
      number: payload.number,
      author,
      is_own: payload.account_id === viewer?.account_id,
      kind: "text",
      text: payload.text ?? "",
      is_hidden: false,
      reply_to: null,
      media: null,
      voice: null,
      post: null,
      story: null,
      sealed: null,
      reactions: [],
      created_at: at,
      edited_at: null,
      expires_at: null,
      after_seen_s: null,
    };
  }

  /** Shows the message as it is now; one that has disappeared goes. */
  async fetch(messageId: string): Promise<void> {
    const { threadId } = this.#conversation;
    try {
      this.#conversation.merge(await direct.getMessage(threadId, messageId));
    } catch (error) {
      if (isNotFound(error)) this.#conversation.remove(messageId);
      else await this.#conversation.refresh();
    }
  }

  /** How far somebody has read; markers only move forward. */
  #see({ account_id, number }: KnownUpdate<"direct.seen">["payload"]): void {
    const { thread, viewer } = this.#conversation;
    if (thread === null) return;
    const members = thread.members.map((member) =>
      member.person.account_id === account_id && member.seen_number < number
        ? { ...member, seen_number: number, seen_at: new Date().toISOString() }
        : member,
    );
    const isOwn = account_id === viewer?.account_id;
    const seen_number = isOwn ? Math.max(thread.seen_number, number) : thread.seen_number;
    this.#conversation.thread = { ...thread, members, seen_number };
  }
}
