/**
 * Reports impressions to the ranking: posts of which at least half was on screen for a second or more, and for how long.
 * Sent in batches, at the latest when the page is hidden; not at all once the server says that it does not collect them.
 */
import { type Impression, reportImpressions } from "../../client/feed";

const MIN_VISIBLE = 0.5;
const MIN_MS = 1_000;
/** Longer views are capped: the reader has probably left. */
const MAX_MS = 120_000;
const FLUSH_MS = 15_000;
const BATCH_SIZE = 50;

export class ImpressionReporter {
  readonly #since = new Map<Element, { postId: string; from_ms: number }>();
  readonly #postIds = new WeakMap<Element, string>();
  #pending: Impression[] = [];
  #isCollected = true;
  readonly #observer = new IntersectionObserver((entries) => this.#onIntersection(entries), {
    threshold: MIN_VISIBLE,
  });
  readonly #timer = setInterval(() => void this.flush(), FLUSH_MS);
  readonly #onHidden = () => document.visibilityState === "hidden" && this.#endAll();

  constructor() {
    document.addEventListener("visibilitychange", this.#onHidden);
  }

  /** For `{@attach}` on the post's article. */
  watch(postId: string): (article: Element) => () => void {
    return (article) => {
      this.#postIds.set(article, postId);
      this.#observer.observe(article);
      return () => {
        this.#end(article);
        this.#observer.unobserve(article);
      };
    };
  }

  stop(): void {
    this.#endAll();
    this.#observer.disconnect();
    clearInterval(this.#timer);
    document.removeEventListener("visibilitychange", this.#onHidden);
  }

  async flush(): Promise<void> {
    const batch = this.#pending.splice(0, BATCH_SIZE);
    if (batch.length === 0 || !this.#isCollected) return;
    try {
      this.#isCollected = await reportImpressions(batch);
    } catch {
      // Lost without a connection: impressions are best effort.
    }
  }

  #onIntersection(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting, time } of entries) {
      const postId = this.#postIds.get(target);
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
    if (ms >= MIN_MS) this.#pending.push({ post_id: seen.postId, ms: Math.min(ms, MAX_MS) });
  }

  #endAll(): void {
    for (const article of [...this.#since.keys()]) {
      const { postId } = this.#since.get(article) ?? { postId: "" };
      this.#end(article);
      // Still on screen: a new impression starts, for when the page is visible again.
      this.#since.set(article, { postId, from_ms: performance.now() });
    }
    void this.flush();
  }
}
