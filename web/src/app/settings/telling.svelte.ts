/** What one is told: shown as chosen at once, put back when the server refuses. */
import {
  type Choice,
  choose,
  endQuiet,
  getTold,
  type Quiet,
  setQuiet,
  type Told,
} from "../../client/notifying";
import { explain, toasts } from "../../ui";

export class Telling {
  told = $state.raw<Told | null>(null);
  failure = $state.raw<unknown>(null);

  async load(): Promise<void> {
    this.failure = null;
    try {
      this.told = await getTold();
    } catch (error) {
      this.failure = error;
    }
  }

  choose(choice: Choice): void {
    const told = this.told;
    if (told === null) return;
    const kinds = told.kinds.map((each) => (each.kind === choice.kind ? choice : each));
    void this.#try({ ...told, kinds }, () => choose(choice));
  }

  setQuiet(quiet: Quiet | null): void {
    if (this.told === null) return;
    void this.#try({ ...this.told, quiet_hours: quiet }, () => (quiet ? setQuiet(quiet) : endQuiet()));
  }

  async #try(told: Told, work: () => Promise<unknown>): Promise<void> {
    const before = this.told;
    this.told = told;
    try {
      await work();
    } catch (error) {
      this.told = before;
      toasts.fail(explain(error));
    }
  }
}
