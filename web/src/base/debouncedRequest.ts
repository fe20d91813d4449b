/** Search-as-you-type: only the latest of rapid requests is sent, after a pause; earlier ones are aborted. */
export class DebouncedRequest {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | null = null;

  /** Schedules the request in place of the one before. `send` must ignore its result once the signal is aborted. */
  schedule(delay_ms: number, send: (signal: AbortSignal) => Promise<void>): void {
    this.cancel();
    this.#timer = setTimeout(() => {
      const controller = new AbortController();
      this.#running = controller;
      void send(controller.signal);
    }, delay_ms);
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#running?.abort();
  }
}
