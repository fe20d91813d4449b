/** What the live package offers; see README.md. Nothing in this folder knows Svelte. */

/** A value that can be watched. It is a Svelte store, too: `subscribe` calls back at once and whenever the value changes. */
export interface Observable<T> {
  readonly value: T;
  subscribe(watcher: (value: T) => void): Unsubscribe;
}

export type Unsubscribe = () => void;

/** An entry of the account's update log, as docs/asyncapi.json has it. Numbers grow by one. */
export interface Update {
  readonly seq: number;
  readonly kind: string;
  /** When it was logged, as ISO 8601. */
  readonly at: string;
  readonly payload: unknown;
}

/** The payloads of updates by their kind. A redacted update is told to nobody. */
export interface UpdatePayloads {
  readonly notification: { readonly unread_count: number };
  readonly "direct.message": {
    readonly thread_id: string;
    readonly message_id: string;
    readonly number: number;
    readonly account_id: string;
    readonly kind: string;
    /** Null where it is too long for an update: fetch the message. */
    readonly text: string | null;
    readonly reply_to_id: string | null;
  };
  readonly "direct.message_changed": { readonly thread_id: string; readonly message_id: string };
  readonly "direct.thread": { readonly thread_id: string };
  readonly "direct.seen": {
    readonly thread_id: string;
    readonly account_id: string;
    readonly number: number;
  };
}

export type UpdateKind = keyof UpdatePayloads;

/** An update of one of the known kinds: `update.kind` tells what its payload is. */
export type KnownUpdate<K extends UpdateKind = UpdateKind> = {
  [Kind in K]: Update & { readonly kind: Kind; readonly payload: UpdatePayloads[Kind] };
}[K];

/** Hints that age in seconds: stored nowhere, and lost where nobody listens. */
export interface Signals {
  readonly typing: { readonly thread_id: string; readonly account_id: string; readonly is_typing: boolean };
  readonly presence: PresenceSignal;
  readonly feed: { readonly post_id: string };
  readonly media: {
    readonly media_id: string;
    readonly account_id: string;
    readonly state: string;
    readonly progress: number;
  };
  /** Counts of a post that this device watches have changed. */
  readonly posts: {
    readonly post_id: string;
    /** Null where the author does not show it. */
    readonly like_count: number | null;
    readonly comment_count: number;
    /** Those that were just added. */
    readonly comments: readonly {
      readonly comment_id: string;
      readonly account_id: string;
      readonly username: string;
    }[];
  };
}

export type Topic = keyof Signals;

export interface PresenceSignal {
  readonly account_id: string;
  readonly is_active: boolean;
  readonly last_active_at: string | null;
}

/**
 * "off": nobody is signed in. "connecting": the first attempt is under way. "online": updates are pushed.
 * "offline": they are not, or the site has no live connections; they are polled for, about once a minute.
 */
export type LiveState = "off" | "connecting" | "online" | "offline";

/** What came of a command. */
export type Reply = Readonly<Record<string, unknown>>;

export interface Live {
  readonly state: Observable<LiveState>;
  /** Calls back with updates of these kinds: each once, in order, without gaps, in every tab. */
  onUpdates<K extends UpdateKind>(
    kinds: readonly K[],
    handler: (update: KnownUpdate<K>) => void,
  ): Unsubscribe;
  /** The log does not reach back to where this device was: fetch anew what is shown. */
  onReset(handler: () => void): Unsubscribe;
  onSignal<T extends Topic>(topic: T, handler: (signal: Signals[T]) => void): Unsubscribe;
  /**
   * Carries out a command over MQTT while online, otherwise by the HTTP request with the same effect, and resolves to
   * its reply. Rejects with a `Problem`, whose code is that of HTTP. `id` is the idempotency key.
   */
  command(kind: string, payload: object, id?: string): Promise<Reply>;
  /** The same for what is only worth something at once, such as typing: dropped unless online, and errors do not matter. */
  hint(kind: string, payload: object): void;
}

export interface Presences {
  /** Calls back with what is known of these people, at once and whenever it changes. */
  watch(
    accountIds: readonly string[],
    watcher: (known: ReadonlyMap<string, PresenceSignal>) => void,
  ): Unsubscribe;
}

/** A change of a thread that a device makes: the queue adds local id, device id and counter. */
export type Change =
  | {
      readonly kind: "send";
      /** `text`, `reply_to`, `media_id`, `post_id`, `story_id`: as POST /direct/threads/{id}/messages takes them. */
      readonly body: Readonly<Record<string, unknown>>;
      /** Stored with the change and uploaded before it is sent; the message then carries it as `media_id`. */
      readonly file?: File;
    }
  | { readonly kind: "edit"; readonly body: { readonly message_id: string; readonly text: string } }
  | { readonly kind: "unsend"; readonly body: { readonly message_id: string } }
  | { readonly kind: "react"; readonly body: { readonly message_id: string; readonly emoji: string | null } };

export type ChangeStatus = "pending" | "sent" | "failed";

/** A change in the queue: optimistic state, to be shown beside what the server says. */
export interface QueuedChange {
  readonly localId: string;
  readonly threadId: string;
  readonly change: Change;
  readonly status: ChangeStatus;
  readonly at_ms: number;
  /** How much of the file has been uploaded, 0 to 1; null where there is nothing to upload, or not yet. */
  readonly progress: number | null;
  /** Why the server refused it; only of those that failed. */
  readonly problem: { readonly status: number; readonly code: string; readonly detail: string } | null;
  /** Of a message that was sent: what it is on the server. Drop it from view once that message is shown. */
  readonly result: { readonly message_id: string; readonly number: number } | null;
}

export interface Mutations {
  /** Stores the change, then sends it as soon as it can be sent: in this thread after all earlier ones, once, also after a reload. */
  enqueue(threadId: string, change: Change): Promise<QueuedChange>;
  /** Sends a change that failed again, as the newest of its thread. */
  retry(localId: string): Promise<void>;
  /** Removes a change that failed, or a pending one that has not been sent yet. */
  discard(localId: string): Promise<void>;
  /** The changes of a thread, oldest first; those that were sent stay until `acknowledge`. */
  of(threadId: string): Observable<readonly QueuedChange[]>;
  /** These messages are shown as the server has them: the queue forgets its own copies. */
  acknowledge(messageIds: readonly string[]): void;
}
