/**
 * Optimistic update of a boolean such as a like or a follow: shown at once, sent to the server afterwards.
 *
 * However often the button is pressed, at most one request is in flight and the last press wins. When the server refuses,
 * the screen rolls back to the server's state and `onFailure` is called.
 */
export interface ToggleHandlers {
  /** Shows the state. Called only when it differs from what is shown. */
  readonly show: (on: boolean) => void;
  /** Sends the state to the server; rejects when the server did not accept it. */
  readonly send: (on: boolean) => Promise<void>;
  /** The desired state was refused; the screen has been rolled back already. */
  readonly onFailure: (desired: boolean, error: unknown) => void;
}

export class OptimisticToggle {
  #confirmed: boolean;
  #desired: boolean;
  #isSending = false;
  readonly #handlers: ToggleHandlers;

  constructor(confirmed: boolean, handlers: ToggleHandlers) {
    this.#confirmed = confirmed;
    this.#desired = confirmed;
    this.#handlers = handlers;
  }

  get isSettled(): boolean {
    return !this.#isSending;
  }

  /** Takes over the server's state without showing it: the caller has done so. Only while settled. */
  setConfirmed(confirmed: boolean): void {
    this.#confirmed = confirmed;
    this.#desired = confirmed;
  }

  /** Shows the server's state when it turned out later to differ, unless a request is in flight. */
  reconcile(confirmed: boolean): void {
    if (this.#isSending) return;
    this.#confirmed = confirmed;
    this.#setDesired(confirmed);
  }

  /** Resolves once the server holds the last desired state, or the screen has been rolled back. */
  async set(on: boolean): Promise<void> {
    this.#setDesired(on);
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#desired !== this.#confirmed) await this.#attempt(this.#desired);
    this.#isSending = false;
  }

  async #attempt(desired: boolean): Promise<void> {
    try {
      await this.#handlers.send(desired);
      this.#confirmed = desired;
    } catch (error) {
      // The press was undone while it failed: the screen shows the server's state, so there is nothing to report.
      if (this.#desired !== desired) return;
      this.#setDesired(this.#confirmed);
      this.#handlers.onFailure(desired, error);
    }
  }

  #setDesired(on: boolean): void {
    if (this.#desired === on) return;
    this.#desired = on;
    this.#handlers.show(on);
  }
}
