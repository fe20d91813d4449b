/** What is found for the words typed so far: asked for after a pause, the latest question wins. */

const PAUSE_MS = 180;

export class Finder<Found> {
  found = $state.raw<readonly Found[]>([]);
  /** The words that `found` answers; empty while nothing was asked. */
  answered = $state.raw("");
  readonly #ask: (text: string, signal: AbortSignal) => Promise<readonly Found[]>;
  #timer = 0;
  #running: AbortController | null = null;

  constructor(ask: (text: string, signal: AbortSignal) => Promise<readonly Found[]>) {
    this.#ask = ask;
  }

  look(text: string): void {
    const wanted = text.trim();
    this.#running?.abort();
    window.clearTimeout(this.#timer);
    if (wanted === "") this.clear();
    else this.#timer = window.setTimeout(() => void this.#look(wanted), PAUSE_MS);
  }

  clear(): void {
    this.#running?.abort();
    window.clearTimeout(this.#timer);
    this.found = [];
    this.answered = "";
  }

  async #look(text: string): Promise<void> {
    const turn = new AbortController();
    this.#running = turn;
    try {
      const found = await this.#ask(text, turn.signal);
      if (turn.signal.aborted) return;
      this.found = found;
      this.answered = text;
    } catch {
      if (!turn.signal.aborted) this.found = []; // Completion is a courtesy: one can always type on.
    }
  }
}
