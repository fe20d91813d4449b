/**
 * Tells the ranking which posts were looked at and for how long: at least half of one on screen for a second or more.
 * Told in batches, and at the latest when the page is left. A server that does not want to know is not told again.
 */
import { type Impression, reportSeen } from "../../client/feed";

const SHARE = 0.5;
const LEAST_MS = 1_000;
/** Beyond it somebody has left the room, not looked. */
const MOST_MS = 120_000;
const EVERY_MS = 15_000;
const BATCH = 50;

export class SeenReporter {
  readonly #since = new Map<Element, { postId: string; from_ms: number }>();
  readonly #names = new WeakMap<Element, string>();
  #pending: Impression[] = [];
  #isWanted = true;
  readonly #observer = new IntersectionObserver((entries) => this.#notice(entries), { threshold: SHARE });
  readonly #timer = setInterval(() => void this.flush(), EVERY_MS);
  readonly #hide = () => document.visibilityState === "hidden" && this.#leave();

  constructor() {
    document.addEventListener("visibilitychange", this.#hide);
  }

  /** For `{@attach}`: the article of this post. */
  watch(postId: string): (article: Element) => () => void {
    return (article) => {
      this.#names.set(article, postId);
      this.#observer.observe(article);
      return () => {
        this.#end(article);
        this.#observer.unobserve(article);
      };
    };
  }

  stop(): void {
    this.#leave();
    this.#observer.disconnect();
    clearInterval(this.#timer);
    document.removeEventListener("visibilitychange", this.#hide);
  }

  async flush(): Promise<void> {
    const batch = this.#pending.splice(0, BATCH);
    if (batch.length === 0 || !this.#isWanted) return;
    try {
      this.#isWanted = await reportSeen(batch);
    } catch {
      // Lost without a connection; it was a hint, not a promise.
    }
  }

  #notice(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting, time } of entries) {
      const postId = this.#names.get(target);
      if (!isIntersecting) this.#end(target);
      else if (postId !== undefined && !this.#since.has(target))
        this.#since.set(target, { postId, from_ms: time });
    }
  }

  #end(article: Element): void {
    const seen = this.#since.get(article);
    if (seen === undefined) return;
    this.#since.delete(article);
    const ms = Math.round(performance.now() - seen.from_ms);
    if (ms >= LEAST_MS) this.#pending.push({ post_id: seen.postId, ms: Math.min(ms, MOST_MS) });
  }

  #leave(): void {
    for (const article of [...this.#since.keys()]) {
      const { postId } = this.#since.get(article) ?? { postId: "" };
      this.#end(article);
      // Still on screen: when the page is back, looking begins anew.
      this.#since.set(article, { postId, from_ms: performance.now() });
    }
    void this.flush();
  }
}
