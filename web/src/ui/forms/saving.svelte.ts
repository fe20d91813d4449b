/** One thing being saved: busy, refused with the reason, or done with a word of it. */
import { explain } from "../explain";
import { toasts } from "../toasts.svelte";

/** Somebody decided otherwise; nothing is wrong. */
export class TurnedDown extends Error {}

export class Saving {
  isBusy = $state.raw(false);
  failure = $state.raw("");
  readonly #explain: (error: unknown) => string;

  constructor(words: (error: unknown) => string = explain) {
    this.#explain = words;
  }

  /** Whether it was done. */
  async run(work: () => Promise<unknown>, said = ""): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.failure = "";
    try {
      await work();
      if (said !== "") toasts.say(said);
      return true;
    } catch (error) {
      if (!(error instanceof TurnedDown)) this.failure = this.#explain(error);
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}
