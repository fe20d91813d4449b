/** Whether the viewer is a moderator. Requested once, after the first paint. */
import { readItem, writeItem } from "../../base/webStorage";
import { getRole } from "../../client/moderation";
import { session } from "../accounts";

const KEY = "tintype.staff";

class Staff {
  isModerator = $state.raw(false);
  /** Whether the server has said so. */
  isKnown = $state.raw(false);
  #accountId: string | null = null;

  /** Restores the last known answer, so that the navigation does not shift when the server confirms it. */
  restore(accountId: string): void {
    if (this.#accountId !== accountId) this.isModerator = readItem(KEY) === accountId;
  }

  async load(accountId: string): Promise<void> {
    if (this.#accountId === accountId) return;
    this.#accountId = accountId;
    try {
      const role = await getRole();
      if (this.#accountId !== accountId) return;
      this.isModerator = role !== "person";
      this.isKnown = true;
      writeItem(KEY, this.isModerator ? accountId : null);
    } catch {
      this.#accountId = null; // Requested again on the next page.
    }
  }

  reset(): void {
    this.#accountId = null;
    this.isModerator = false;
    this.isKnown = false;
  }
}

export const staff = new Staff();
session.onChange(() => staff.reset());
