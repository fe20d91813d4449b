/** What the rest of the app holds on to: subscriptions outlive the sessions that serve them. */
import { Commands } from "./commands";
import type {
  KnownUpdate,
  Live,
  LiveState,
  Reply,
  Signals,
  Topic,
  Unsubscribe,
  Update,
  UpdateKind,
} from "./contract";
import { LiveSession, type SessionDependencies } from "./liveSession";
import { Listeners, ObservableValue } from "./observable";

/** Prepares a session of this account. */
export type PrepareSession = (accountId: string) => Promise<SessionDependencies>;

/** For what is asked before the connection begins. */
const HTTP_ONLY = new Commands({ isOnline: () => false, publish: () => {} });

export class LiveClient implements Live {
  readonly state = new ObservableValue<LiveState>("off");
  readonly #prepare: PrepareSession;
  readonly #updates = new Listeners<Update>();
  readonly #resets = new Listeners<void>();
  readonly #signals = new Listeners<{ topic: Topic; signal: Signals[Topic] }>();
  #accountId: string | null = null;
  #session: LiveSession | null = null;

  constructor(prepare: PrepareSession) {
    this.#prepare = prepare;
  }

  /** Whose connection it is; null while there is none. */
  get accountId(): string | null {
    return this.#accountId;
  }

  /** Begins for this account; what was another one's ends. */
  async start(accountId: string): Promise<void> {
    if (accountId === this.#accountId) return;
    this.stop();
    this.#accountId = accountId;
    const deps = await this.#prepare(accountId);
    if (this.#accountId !== accountId) return; // Somebody signed out meanwhile.
    this.#session = new LiveSession(deps, {
      onState: (state) => this.state.set(state),
      onUpdate: (update) => this.#updates.emit(update),
      onReset: () => this.#resets.emit(),
      onSignal: (topic, signal) => this.#signals.emit({ topic, signal }),
    });
  }

  /** Ends everything: nothing of the account arrives any more. */
  stop(): void {
    this.#accountId = null;
    this.#session?.end();
    this.#session = null;
    this.state.set("off");
  }

  /** The network is back, or somebody looks at the page again. */
  wake(): void {
    this.#session?.wake();
  }

  onUpdates<K extends UpdateKind>(
    kinds: readonly K[],
    handler: (update: KnownUpdate<K>) => void,
  ): Unsubscribe {
    const wanted: ReadonlySet<string> = new Set(kinds);
    return this.#updates.add((update) => {
      if (wanted.has(update.kind)) handler(update as KnownUpdate<K>);
    });
  }

  onReset(handler: () => void): Unsubscribe {
    return this.#resets.add(handler);
  }

  onSignal<T extends Topic>(topic: T, handler: (signal: Signals[T]) => void): Unsubscribe {
    return this.#signals.add((event) => {
      if (event.topic === topic) handler(event.signal as Signals[T]);
    });
  }

  async command(kind: string, payload: object, id?: string): Promise<Reply> {
    return (this.#session?.commands ?? HTTP_ONLY).run(kind, payload, id);
  }

  hint(kind: string, payload: object): void {
    this.#session?.commands.hint(kind, payload);
  }
}
