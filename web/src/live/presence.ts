/** Who is active: asked for while somebody looks at them, and kept up to date by signals. */
import type { Live, PresenceSignal, Presences, Unsubscribe } from "./contract";

interface Watch {
  readonly ids: ReadonlySet<string>;
  readonly tell: () => void;
}

/** The server tells of changes for five minutes after being asked. */
const ASK_ONLINE_MS = 4 * 60_000;
const ASK_OFFLINE_MS = 60_000;
/** As many as the server takes at once. */
const MAX_ASKED = 50;

export class PresenceStore implements Presences {
  readonly #live: Live;
  readonly #known = new Map<string, PresenceSignal>();
  readonly #watches = new Set<Watch>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isScheduled = false;

  constructor(live: Live) {
    this.#live = live;
    live.onSignal("presence", (signal) => this.#learn([signal]));
    live.state.subscribe((state) => {
      if (state === "off") this.#known.clear();
      else if (this.#watches.size > 0) this.#askSoon();
    });
    document.addEventListener("visibilitychange", () => this.#watches.size > 0 && this.#askSoon());
  }

  watch(
    accountIds: readonly string[],
    watcher: (known: ReadonlyMap<string, PresenceSignal>) => void,
  ): Unsubscribe {
    const ids = new Set(accountIds);
    const tell = () => watcher(new Map([...this.#known].filter(([id]) => ids.has(id))));
    const watch = { ids, tell };
    this.#watches.add(watch);
    tell();
    this.#askSoon();
    return () => {
      this.#watches.delete(watch);
      if (this.#watches.size === 0) clearTimeout(this.#timer);
    };
  }

  /** Once for all who begin to watch in the same moment. */
  #askSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      void this.#ask();
    });
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#watches.size === 0 || this.#live.state.value === "off") return;
    const pause_ms = this.#live.state.value === "online" ? ASK_ONLINE_MS : ASK_OFFLINE_MS;
    this.#timer = setTimeout(() => void this.#ask(), pause_ms);
    if (document.visibilityState !== "visible") return;
    const ids = [...new Set([...this.#watches].flatMap((watch) => [...watch.ids]))];
    for (let first = 0; first < ids.length; first += MAX_ASKED) {
      try {
        const asked = ids.slice(first, first + MAX_ASKED);
        const reply = await this.#live.command("presence.watch", { account_ids: asked });
        this.#learn(reply["presence"] as readonly PresenceSignal[], asked);
      } catch {
        return; // What is known stays; the next question may be answered.
      }
    }
  }

  /** Takes what the server says. Of those who were asked for and are missing, nothing may be shown any more. */
  #learn(found: readonly PresenceSignal[], asked: readonly string[] = []): void {
    for (const id of asked) this.#known.delete(id);
    for (const each of found) this.#known.set(each.account_id, each);
    const changed = new Set([...asked, ...found.map(({ account_id }) => account_id)]);
    for (const { ids, tell } of [...this.#watches]) if ([...changed].some((id) => ids.has(id))) tell();
  }
}
