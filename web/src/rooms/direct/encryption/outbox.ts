/**
 * Encrypted messages on their way from this device: stored before they are sent and removed after the server has answered, so
 * that a reload, an outage or a closed tab sends them again, once, under their local ids. They lie beside the keys, and go with
 * them when somebody logs out.
 */
import { Drainer, MAX_SERVER_ERRORS } from "../../../base/drainer";
import { randomId } from "../../../base/random";
import { classifyFailure, Problem } from "../../../client/problem";
import type { KeyStore } from "./keyStore";

export interface OutgoingMessage {
  readonly localId: string;
  readonly threadId: string;
  readonly at_ms: number;
  readonly text: string;
  readonly file: File | null;
  readonly replyTo: string | null;
  readonly serverErrors: number;
  /** Refused: it waits for its author to send it again or to give it up. */
  readonly hasFailed: boolean;
}

export interface OutboxDependencies {
  readonly store: KeyStore;
  readonly send: (message: OutgoingMessage) => Promise<unknown>;
  readonly schedule: (delay_ms: number, then: () => void) => void;
  /** The queue is empty, or has become not empty. */
  readonly onWaiting: (isWaiting: boolean) => void;
}

/** What became of a message: sent, or why it could not be. */
export type OutboxListener = (threadId: string, failure: unknown) => void;

const PREFIX = "outbox:";
const keyOf = ({ localId }: Pick<OutgoingMessage, "localId">) => PREFIX + localId;

export class Outbox {
  readonly #deps: OutboxDependencies;
  readonly #drainer: Drainer;
  readonly #listeners = new Set<OutboxListener>();
  #last_ms = 0;

  constructor(deps: OutboxDependencies) {
    this.#deps = deps;
    this.#drainer = new Drainer({
      schedule: deps.schedule,
      withLock: (work) => deps.store.exclusively("outbox", work),
      sendAll: () => this.#sendAll(),
    });
  }

  /** Stores a message, then sends it as soon as that is possible. */
  async add(message: Pick<OutgoingMessage, "threadId" | "text" | "file" | "replyTo">): Promise<void> {
    this.#last_ms = Math.max(Date.now(), this.#last_ms + 1);
    const entry = {
      ...message,
      localId: randomId(),
      at_ms: this.#last_ms,
      serverErrors: 0,
      hasFailed: false,
    };
    await this.#deps.store.write({ [keyOf(entry)]: entry });
    this.#deps.onWaiting(true);
    this.#tell(message.threadId, null);
    void this.drain();
  }

  /** The messages of a thread that are on their way, the oldest first. */
  async of(threadId: string): Promise<OutgoingMessage[]> {
    return (await this.#all()).filter((each) => each.threadId === threadId);
  }

  /** Sends a refused message again, after those that wait. */
  async retry(localId: string): Promise<void> {
    this.#last_ms = Math.max(Date.now(), this.#last_ms + 1);
    await this.#update(localId, { hasFailed: false, serverErrors: 0, at_ms: this.#last_ms });
    void this.drain();
  }

  async discard(localId: string): Promise<void> {
    const found = await this.#deps.store.get<OutgoingMessage>(keyOf({ localId }));
    if (found === null) return;
    await this.#deps.store.write({ [keyOf(found)]: null });
    this.#tell(found.threadId, null);
  }

  drain(): Promise<void> {
    return this.#drainer.drain();
  }

  onChange(listener: OutboxListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #all(): Promise<OutgoingMessage[]> {
    return (await this.#deps.store.list<OutgoingMessage>(PREFIX)).sort((a, b) => a.at_ms - b.at_ms);
  }

  /** Resolves to false where something has to be tried again later. The messages of a thread go one after another. */
  async #sendAll(): Promise<boolean> {
    const waiting = (await this.#all()).filter(({ hasFailed }) => !hasFailed);
    const delayed = new Set<string>();
    for (const message of waiting)
      if (!delayed.has(message.threadId) && !(await this.#attempt(message))) delayed.add(message.threadId);
    this.#deps.onWaiting((await this.#all()).length > 0);
    return delayed.size === 0;
  }

  async #attempt(message: OutgoingMessage): Promise<boolean> {
    try {
      await this.#deps.send(message);
      await this.#deps.store.write({ [keyOf(message)]: null });
      this.#drainer.resetBackoff();
      this.#tell(message.threadId, null);
      return true;
    } catch (error) {
      const isOfServer = error instanceof Problem && error.status >= 500;
      const serverErrors = message.serverErrors + (isOfServer ? 1 : 0);
      const hasFailed = classifyFailure(error) === "rejected" || serverErrors >= MAX_SERVER_ERRORS;
      await this.#update(message.localId, { serverErrors, hasFailed }, hasFailed ? error : null);
      return hasFailed;
    }
  }

  async #update(localId: string, change: Partial<OutgoingMessage>, failure: unknown = null): Promise<void> {
    const found = await this.#deps.store.get<OutgoingMessage>(keyOf({ localId }));
    if (found === null) return;
    await this.#deps.store.write({ [keyOf(found)]: { ...found, ...change } });
    this.#tell(found.threadId, failure);
  }

  #tell(threadId: string, failure: unknown): void {
    for (const listener of this.#listeners) listener(threadId, failure);
  }
}
