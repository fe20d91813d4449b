/** What one searched for lately; forgotten singly or all at once, and back on screen when that failed. */
import { finding, type Recent } from "../../client/finding";
import { explain, toasts } from "../../ui";

export class Recents {
  list = $state.raw<readonly Recent[]>([]);
  /** An answer came, or will not come: what stands below may be shown without moving again. */
  isSettled = $state.raw(false);

  async load(): Promise<void> {
    try {
      this.list = await finding.getRecent();
    } catch {
      this.list = []; // A convenience: the field works without it.
    }
    this.isSettled = true;
  }

  async remember(kind: Recent["kind"], subject: string): Promise<void> {
    try {
      await finding.remember(kind, subject);
    } catch {
      // Not worth a word: what was looked for is already open.
    }
  }

  forget(searchId: string): Promise<void> {
    return this.#drop(
      this.list.filter(({ search_id }) => search_id !== searchId),
      () => finding.forget(searchId),
    );
  }

  forgetAll(): Promise<void> {
    return this.#drop([], finding.forgetAll);
  }

  async #drop(left: readonly Recent[], send: () => Promise<null>): Promise<void> {
    const before = this.list;
    this.list = left;
    try {
      await send();
    } catch (error) {
      this.list = before;
      toasts.fail(explain(error));
    }
  }
}
