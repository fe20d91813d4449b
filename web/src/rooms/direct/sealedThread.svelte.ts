/** The encrypted messages of one thread on screen: opened by this device's keys, and sent under them. */
import type { Author } from "../../client";
import type { Message, Thread } from "../../client/direct";
import { isUnreachable } from "../../offline";
import { errorMessage, toasts } from "../../ui";
import type { Content, ShownMessage as OpenMessage, OutgoingMessage } from "./encryption";
import { canEncrypt, getEncryption, getOutbox } from "./encryptionSession";
import type { ShownMessage } from "./shownMessage";

/** `waiting`: no other device has added this one yet. `lost`: its keys of this thread are gone. */
export type SealState = "opening" | "ready" | "waiting" | "lost" | "mismatch" | "impossible" | "failed";

const STATES: Readonly<Record<string, SealState>> = {
  not_in_group: "waiting",
  device_not_in_group: "waiting",
  key_missing: "lost",
  tree_mismatch: "mismatch",
};

export class SealedThread {
  readonly threadId: string;
  state = $state.raw<SealState>("opening");
  #open = $state.raw<ReadonlyMap<string, OpenMessage>>(new Map());
  #outgoing = $state.raw<readonly OutgoingMessage[]>([]);
  #running: Promise<void> | null = null;
  #isStale = false;
  #isClosed = false;
  #stopListening: (() => void) | null = null;

  constructor(threadId: string) {
    this.threadId = threadId;
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening?.();
  }

  /** Shows what is on its way, from now on. */
  async #listen(): Promise<void> {
    if (this.#stopListening !== null) return;
    const outbox = await getOutbox();
    if (this.#isClosed || this.#stopListening !== null) return;
    this.#stopListening = outbox.onChange((threadId, failure) => {
      if (threadId === this.threadId) void this.#onOutbox(failure);
    });
    this.#outgoing = await outbox.of(this.threadId);
  }

  /** A message that was sent is shown as sent before it leaves those that are on their way. */
  async #onOutbox(failure: unknown): Promise<void> {
    if (failure !== null) toasts.error(errorMessage(failure));
    const waiting = await (await getOutbox()).of(this.threadId);
    const known = new Set(waiting.map(({ localId }) => localId));
    if (this.#outgoing.some(({ localId }) => !known.has(localId))) await this.refresh();
    this.#outgoing = await (await getOutbox()).of(this.threadId);
  }

  /** Reads what is new; calls during a run make it run once more. */
  async refresh(): Promise<void> {
    this.#isStale = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      await this.#read();
    }
  }

  async #read(): Promise<void> {
    if (!canEncrypt()) {
      this.state = "impossible";
      return;
    }
    try {
      await this.#listen();
      const client = await getEncryption();
      this.#show(await client.history.show(this.threadId));
      this.#show(await client.read(this.threadId));
      this.state = "ready";
      void client.threads.tend(this.threadId).catch(() => {}); // Adds new devices; the next send does it otherwise.
    } catch (error) {
      if (isUnreachable(error) && this.#open.size > 0) {
        this.state = "ready"; // What this device has read is shown, and what is written waits.
        return;
      }
      const { codeOf } = await import("./encryption");
      this.state = STATES[codeOf(error)] ?? "failed";
    }
  }

  #show(messages: readonly OpenMessage[]): void {
    this.#open = new Map(messages.map((each) => [each.messageId, each]));
  }

  /** Messages as the app shows them: with what they say, or marked as not to be read. Reactions and edits are in those they change. */
  unseal(messages: readonly Message[], thread: Thread | null): Message[] {
    const people = new Map(thread?.members.map(({ person }) => [person.account_id, person]));
    return messages
      .filter(({ kind }) => kind !== "encrypted_change")
      .map((message) => (message.sealed === null ? message : this.#unsealOne(message, people)));
  }

  #unsealOne(message: Message, people: ReadonlyMap<string, Author>): Message {
    const found = this.#open.get(message.message_id);
    const content = found?.content ?? null;
    if (found === undefined || content === null || (content.type !== "text" && content.type !== "file"))
      return message;
    const quoted = content.replyTo === undefined ? undefined : this.#open.get(content.replyTo);
    return {
      ...message,
      author: people.get(found.accountId) ?? message.author,
      kind: content.type === "file" ? "media" : "text",
      text: found.text,
      reply_to:
        quoted === undefined
          ? null
          : { message_id: quoted.messageId, account_id: quoted.accountId || null, text: quoted.text },
      reactions: [...found.reactions].map(([account_id, emoji]) => ({ account_id, emoji })),
      edited_at: found.isEdited ? found.createdAt : null,
    };
  }

  /** The messages that are on their way from this device. */
  outgoing(viewer: Author | null, known: readonly Message[]): ShownMessage[] {
    return this.#outgoing.map(({ localId, text, at_ms, file, replyTo, hasFailed }) => {
      const quoted = known.find(({ message_id }) => message_id === replyTo);
      return {
        ...BLANK,
        key: localId,
        localId,
        file,
        text,
        thread_id: this.threadId,
        author: viewer,
        created_at: new Date(at_ms).toISOString(),
        kind: file === null ? "text" : "media",
        status: hasFailed ? "failed" : "pending",
        reply_to: quoted
          ? {
              message_id: quoted.message_id,
              account_id: quoted.author?.account_id ?? null,
              text: quoted.text,
            }
          : null,
      } satisfies ShownMessage;
    });
  }

  async send(text: string, replyTo: string | null, file: File | null = null): Promise<void> {
    await (await getOutbox()).add({ threadId: this.threadId, text, file, replyTo });
  }

  /** Sends a message again that could not be sent. */
  async retry(localId: string): Promise<void> {
    await (await getOutbox()).retry(localId);
  }

  async discard(localId: string): Promise<void> {
    await (await getOutbox()).discard(localId);
  }

  /** A reaction or an edit. */
  async change(content: Content): Promise<void> {
    try {
      await (await getEncryption()).send(this.threadId, content);
    } catch (error) {
      toasts.error(errorMessage(error));
    }
    await this.refresh();
  }

  /** The server has deleted a message: this device and the backup forget it. */
  async forget(messageId: string): Promise<void> {
    await (await getEncryption()).forget(this.threadId, messageId);
    await this.refresh();
  }

  async beginAnew(): Promise<void> {
    await (await getEncryption()).threads.beginAnew(this.threadId);
    await this.refresh();
  }

  async openFile(messageId: string): Promise<Blob> {
    return (await getEncryption()).openFile(this.threadId, messageId);
  }
}

const BLANK = {
  problem: null,
  message_id: "",
  number: Number.MAX_SAFE_INTEGER,
  is_own: true,
  is_hidden: false,
  media: null,
  voice: null,
  post: null,
  story: null,
  sealed: null,
  reactions: [],
  edited_at: null,
  expires_at: null,
  after_seen_s: null,
} as const satisfies Partial<ShownMessage>;
