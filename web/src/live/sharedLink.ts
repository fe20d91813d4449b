/**
 * One connection for all tabs of a browser: the leader has it, tells the others what arrives and how it stands, and publishes
 * what they ask it to. Every tab follows the update log by itself, so a message between tabs that gets lost is a gap like any other.
 */
import type { Link, LinkEvents, LinkState } from "./link";
import { campaign, type Leadership } from "./tabLeader";

/** What tabs tell each other. Tabs may run different releases: keep these names. */
type TabMessage =
  | { readonly type: "hello" }
  | { readonly type: "state"; readonly state: LinkState }
  | { readonly type: "message"; readonly leaf: string; readonly content: unknown }
  | { readonly type: "publish"; readonly body: string };

export interface SharedLinkDependencies extends LinkEvents {
  /** What this browser's link is called: tabs with the same name share one. */
  readonly name: string;
  /** Makes the connection of the leader. */
  readonly connect: (events: LinkEvents) => Link;
}

/** A leader that has not answered after this long is suspended. */
const ANSWER_MS = 8_000;

/** Whether this browser lets tabs elect a leader. Web Locks exist only over HTTPS and on this machine. */
export function canShare(): boolean {
  return navigator.locks !== undefined && "BroadcastChannel" in globalThis;
}

export class SharedLink implements Link {
  readonly #deps: SharedLinkDependencies;
  readonly #channel: BroadcastChannel;
  readonly #leadership: Leadership;
  /** The connection, where this tab is the leader. */
  #own: Link | null = null;
  #state: LinkState = "connecting";
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: SharedLinkDependencies) {
    this.#deps = deps;
    this.#channel = new BroadcastChannel(deps.name);
    this.#channel.onmessage = ({ data }: MessageEvent<TabMessage>) => this.#hear(data);
    this.#deps.onState(this.#state);
    this.#leadership = campaign(deps.name, () => this.#lead());
    this.#greet();
  }

  get isLeader(): boolean {
    return this.#own !== null;
  }

  publish(body: string): void {
    if (this.#own !== null) this.#own.publish(body);
    else this.#tell({ type: "publish", body });
  }

  wake(): void {
    if (this.#own !== null) this.#own.wake();
    else this.#greet();
  }

  /** The leader passes on what the other tabs should know. */
  share(leaf: string, content: unknown): void {
    if (this.#own !== null) this.#tell({ type: "message", leaf, content });
  }

  close(): void {
    clearTimeout(this.#patience);
    this.#leadership.resign();
    this.#channel.close();
  }

  #lead(): () => void {
    clearTimeout(this.#patience);
    this.#own = this.#deps.connect({
      onState: (state) => {
        this.#setState(state);
        this.#tell({ type: "state", state });
      },
      onMessage: this.#deps.onMessage,
    });
    return () => {
      this.#own?.close();
      this.#own = null;
    };
  }

  /** Asks the leader how the connection stands, and takes its place if it is silent while this tab is looked at. */
  #greet(): void {
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => {
      if (document.visibilityState === "visible") this.#leadership.steal();
    }, ANSWER_MS);
    this.#tell({ type: "hello" });
  }

  #hear(message: TabMessage): void {
    if (this.#own !== null) this.#serve(this.#own, message);
    else if (message.type === "state" || message.type === "message") this.#follow(message);
  }

  #serve(own: Link, message: TabMessage): void {
    if (message.type === "hello") this.#tell({ type: "state", state: this.#state });
    if (message.type === "publish") own.publish(message.body);
  }

  #follow(message: Extract<TabMessage, { type: "state" | "message" }>): void {
    clearTimeout(this.#patience); // The leader is there.
    if (message.type === "state") this.#setState(message.state);
    else this.#deps.onMessage(message.leaf, message.content);
  }

  #setState(state: LinkState): void {
    this.#state = state;
    this.#deps.onState(state);
  }

  #tell(message: TabMessage): void {
    this.#channel.postMessage(message);
  }
}
