/** The live connection of one account in this tab, from signing in to signing out: link, update log, commands, and polling. */
import { startPolling } from "../base/poller";
import { Commands } from "./commands";
import type { LiveState, Signals, Topic, Update } from "./contract";
import type { Link, LinkEvents, LinkState } from "./link";
import { type SyncPage, UpdateLog } from "./updateLog";

export interface SessionEvents {
  readonly onState: (state: LiveState) => void;
  readonly onUpdate: (update: Update) => void;
  readonly onReset: () => void;
  readonly onSignal: (topic: Topic, signal: Signals[Topic]) => void;
}

/** A link that may be shared with other tabs. */
export interface TabLink extends Link {
  /** Whether this tab holds the connection, or is alone. */
  readonly isLeader: boolean;
  share(leaf: string, content: unknown): void;
}

export interface SessionDependencies {
  /** The number of the latest update that was delivered on this device; null on its first visit. */
  readonly position: number | null;
  readonly readLog: (since: number | null) => Promise<SyncPage>;
  readonly remember: (seq: number) => void;
  /** Opens the link; `onConnected` runs after each connect and resolves to whether the log was read. */
  readonly openLink: (events: LinkEvents & { readonly onConnected: () => Promise<boolean> }) => TabLink;
}

/** An update that gets lost has no successor to betray it for as long as nothing else happens: the log is read now and then. */
const CHECK_MS = 5 * 60_000;
const TOPICS: readonly string[] = ["typing", "presence", "feed", "media", "posts"] satisfies Topic[];

export class LiveSession {
  readonly commands: Commands;
  readonly #events: SessionEvents;
  readonly #log: UpdateLog;
  readonly #link: TabLink;
  #state: LinkState = "connecting";
  #stopPolling: () => void = () => {};
  readonly #check: ReturnType<typeof setInterval>;

  constructor(deps: SessionDependencies, events: SessionEvents) {
    this.#events = events;
    this.commands = new Commands({
      isOnline: () => this.#state === "online",
      publish: (body) => this.#link.publish(body),
    });
    this.#log = new UpdateLog(
      {
        read: deps.readLog,
        deliver: (update) => this.#deliver(update),
        reset: (seq) => this.#reset(seq),
        remember: (seq) => this.#link.isLeader && deps.remember(seq),
      },
      deps.position,
    );
    this.#link = deps.openLink({
      onState: (state) => this.#onLinkState(state),
      onMessage: (leaf, content) => this.#receive(leaf, content),
      onConnected: () => this.#log.catchUp(),
    });
    this.#check = setInterval(() => this.#link.isLeader && void this.#log.catchUp(), CHECK_MS);
  }

  wake(): void {
    this.#link.wake();
  }

  end(): void {
    clearInterval(this.#check);
    this.#stopPolling();
    this.#log.end();
    this.#link.close();
    this.commands.release();
  }

  #onLinkState(state: LinkState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#stopPolling();
    this.#stopPolling = state === "offline" ? startPolling(() => this.#log.catchUp()) : () => {};
    if (state !== "online") this.commands.release();
    this.#events.onState(state);
    // The leader has read the log before it says so; a tab that follows may be behind it, and one without a connection, too.
    if (state === "offline" || !this.#link.isLeader) void this.#log.catchUp();
  }

  #receive(leaf: string, content: unknown): void {
    if (leaf === "updates") this.#log.receive(content as Update);
    else if (leaf === "reset") this.#log.skipTo((content as { seq: number }).seq);
    else {
      this.#link.share(leaf, content);
      if (leaf === "replies") this.commands.receive(content as Parameters<Commands["receive"]>[0]);
      else if (TOPICS.includes(leaf)) this.#events.onSignal(leaf as Topic, content as Signals[Topic]);
    }
  }

  #deliver(update: Update): void {
    this.#link.share("updates", update);
    this.#events.onUpdate(update);
  }

  #reset(seq: number): void {
    this.#link.share("reset", { seq });
    this.#events.onReset();
  }
}
