/** The state of a form submission: busy, failed with a message, or done with a toast. */
import { errorMessage } from "../errorMessage";
import { toasts } from "../toasts.svelte";

/** The user cancelled; not an error. */
export class Cancelled extends Error {}

export class Submission {
  isBusy = $state.raw(false);
  failure = $state.raw("");
  readonly #messageOf: (error: unknown) => string;

  constructor(messageOf: (error: unknown) => string = errorMessage) {
    this.#messageOf = messageOf;
  }

  /** Runs the work unless one is running already; resolves to whether it succeeded. */
  async run(work: () => Promise<unknown>, success = ""): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.failure = "";
    try {
      await work();
      if (success !== "") toasts.info(success);
      return true;
    } catch (error) {
      if (!(error instanceof Cancelled)) this.failure = this.#messageOf(error);
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}
