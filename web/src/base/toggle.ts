/**
 * One yes/no that is shown at once and made true on the server afterwards: a like, a follow.
 *
 * However fast the button is pressed, at most one request is under way and the last wish wins.
 * When the server refuses, the screen goes back to what the server holds, and says so.
 */
export interface ToggleWiring {
  /** Put the state on screen. Called only when it differs from what is shown. */
  readonly show: (on: boolean) => void;
  /** Make it so on the server; rejects when it is not so. */
  readonly send: (on: boolean) => Promise<void>;
  /** The wish could not be met; the screen already shows the truth again. */
  readonly failed: (wish: boolean, error: unknown) => void;
}

export class Toggle {
  #confirmed: boolean;
  #wish: boolean;
  #busy = false;
  readonly #wiring: ToggleWiring;

  constructor(confirmed: boolean, wiring: ToggleWiring) {
    this.#confirmed = confirmed;
    this.#wish = confirmed;
    this.#wiring = wiring;
  }

  get isSettled(): boolean {
    return !this.#busy;
  }

  /** The server has told the truth by another way; nothing may be under way. */
  adopt(confirmed: boolean): void {
    this.#confirmed = confirmed;
    this.#wish = confirmed;
  }

  /** The truth came out later than the answer: the screen follows it, unless somebody is pressing the button. */
  correct(confirmed: boolean): void {
    if (this.#busy) return;
    this.#confirmed = confirmed;
    this.#want(confirmed);
  }

  /** Resolves once the server holds the last wish, or the screen has been rolled back. */
  async set(on: boolean): Promise<void> {
    this.#want(on);
    if (this.#busy) return;
    this.#busy = true;
    while (this.#wish !== this.#confirmed) await this.#attempt(this.#wish);
    this.#busy = false;
  }

  async #attempt(wish: boolean): Promise<void> {
    try {
      await this.#wiring.send(wish);
      this.#confirmed = wish;
    } catch (error) {
      // A wish withdrawn while it failed needs no apology: the screen already shows the truth.
      if (this.#wish !== wish) return;
      this.#want(this.#confirmed);
      this.#wiring.failed(wish, error);
    }
  }

  #want(on: boolean): void {
    if (this.#wish === on) return;
    this.#wish = on;
    this.#wiring.show(on);
  }
}
