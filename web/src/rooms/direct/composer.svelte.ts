/** What is being written in a thread: the text, what it replies to or edits. What is not sent yet survives leaving the thread. */
import { t } from "../../base/i18n";
import { EDIT_WITHIN_MS, LONGEST_MESSAGE } from "../../client/direct";
import { mutations } from "../../live";
import { toasts } from "../../ui";
import type { Conversation } from "./conversation.svelte";
import type { ShownMessage } from "./shownMessage";

const drafts = new Map<string, string>();

/** The most files of one choice. */
const MAX_FILES = 10;

export class Composer {
  text = $state("");
  replyingTo = $state.raw<ShownMessage | null>(null);
  editing = $state.raw<ShownMessage | null>(null);
  readonly canSend = $derived(this.text.trim() !== "" && this.text.length <= LONGEST_MESSAGE);
  readonly #conversation: Conversation;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
    this.text = drafts.get(conversation.threadId) ?? "";
  }

  /** The text has changed: keeps it, and tells the others that one types. */
  onInput(): void {
    if (this.editing === null) drafts.set(this.#conversation.threadId, this.text);
    this.#conversation.typing.tell(this.text.trim() !== "");
  }

  async send(): Promise<void> {
    const { editing } = this;
    const text = this.text.trim();
    if (!this.canSend) return;
    if (editing !== null) {
      this.cancel();
      if (text !== editing.text) await this.#edit(editing.message_id, text);
      return;
    }
    const reply_to = this.replyingTo?.message_id;
    this.#clear();
    if (this.#isEncrypted) return this.#conversation.sealed.send(text, reply_to ?? null);
    await mutations.enqueue(this.#conversation.threadId, {
      kind: "send",
      body: reply_to === undefined ? { text } : { text, reply_to },
    });
  }

  /** Sends photos and videos, each as a message; the first one replies, where something is replied to. */
  async sendFiles(files: readonly File[]): Promise<void> {
    if (files.length > MAX_FILES) toasts.info(t("direct.tooManyFiles", { count: MAX_FILES }));
    for (const file of files.slice(0, MAX_FILES)) {
      const reply_to = this.replyingTo?.message_id;
      this.replyingTo = null;
      if (this.#isEncrypted) {
        await this.#conversation.sealed.send("", reply_to ?? null, file);
        continue;
      }
      await mutations.enqueue(this.#conversation.threadId, {
        kind: "send",
        body: reply_to === undefined ? {} : { reply_to },
        file,
      });
    }
  }

  reply(message: ShownMessage): void {
    this.cancel();
    this.replyingTo = message;
  }

  edit(message: ShownMessage): void {
    this.editing = message;
    this.replyingTo = null;
    this.text = message.text;
  }

  /** Edits the last message that one wrote and may still edit; resolves to whether there is one. */
  editLast(): boolean {
    const last = this.#conversation.shown.findLast(mayEdit);
    if (last !== undefined) this.edit(last);
    return last !== undefined;
  }

  /** Neither replies nor edits any more. */
  cancel(): void {
    if (this.editing !== null) this.text = drafts.get(this.#conversation.threadId) ?? "";
    this.editing = null;
    this.replyingTo = null;
  }

  async react(message: ShownMessage, emoji: string): Promise<void> {
    const own = message.reactions.find(
      ({ account_id }) => account_id === this.#conversation.viewer?.account_id,
    );
    const chosen = own?.emoji === emoji ? null : emoji;
    if (this.#isEncrypted) {
      await this.#conversation.sealed.change({ type: "reaction", to: message.message_id, emoji: chosen });
      return;
    }
    await mutations.enqueue(this.#conversation.threadId, {
      kind: "react",
      body: { message_id: message.message_id, emoji: chosen },
    });
  }

  async unsend(message: ShownMessage): Promise<void> {
    await mutations.enqueue(this.#conversation.threadId, {
      kind: "unsend",
      body: { message_id: message.message_id },
    });
    if (this.#isEncrypted) await this.#conversation.sealed.forget(message.message_id);
  }

  get #isEncrypted(): boolean {
    return this.#conversation.isEncrypted;
  }

  async #edit(message_id: string, text: string): Promise<void> {
    if (this.#isEncrypted) {
      await this.#conversation.sealed.change({ type: "edit", to: message_id, text });
      return;
    }
    await mutations.enqueue(this.#conversation.threadId, { kind: "edit", body: { message_id, text } });
  }

  #clear(): void {
    drafts.delete(this.#conversation.threadId);
    this.text = "";
    this.replyingTo = null;
    this.#conversation.typing.tell(false);
  }
}

/** One's own message, for 15 minutes; anything with a text. */
export function mayEdit(message: ShownMessage): boolean {
  const age_ms = Date.now() - Date.parse(message.created_at);
  const isText = message.kind !== "unsent" && message.text !== "";
  return message.is_own && message.status === "sent" && isText && age_ms < EDIT_WITHIN_MS;
}
