/** Web Locks with stealing, as far as leader election needs them; tabs of the same test share them. */
type Work = (lock: object | null) => unknown;

interface Waiting {
  readonly grant: () => void;
  readonly signal: AbortSignal | undefined;
}

export class FakeLocks {
  readonly #held = new Map<string, (error: DOMException) => void>();
  readonly #queues = new Map<string, Waiting[]>();

  request(name: string, options: { signal?: AbortSignal; steal?: boolean }, work: Work): Promise<unknown> {
    const { signal, steal = false } = options;
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        const lose = (error: DOMException) => reject(error);
        this.#held.set(name, lose);
        void Promise.resolve(work({})).then((value) => {
          resolve(value);
          if (this.#held.get(name) === lose) this.#release(name);
        });
      };
      signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
      if (steal) {
        this.#held.get(name)?.(new DOMException("stolen", "AbortError"));
        queueMicrotask(grant);
      } else if (this.#held.has(name)) this.#queue(name).push({ grant, signal });
      else {
        this.#held.set(name, () => {});
        queueMicrotask(grant);
      }
    });
  }

  #queue(name: string): Waiting[] {
    const queue = this.#queues.get(name) ?? [];
    this.#queues.set(name, queue);
    return queue;
  }

  #release(name: string): void {
    this.#held.delete(name);
    const next = this.#queue(name).find(({ signal }) => !signal?.aborted);
    this.#queues.set(
      name,
      this.#queue(name).filter((each) => each !== next && !each.signal?.aborted),
    );
    next?.grant();
  }
}
