/** Whether the one who is here moderates. Asked once, after the page is there: nothing else waits for it. */
import { recall, remember } from "../../base/device";
import { getRole } from "../../client/safety";
import { session } from "../accounts";

const KEY = "tintype.staff";

class Staff {
  isModerator = $state.raw(false);
  #of: string | null = null;

  /** As it was the last time, so that what moderators have is there from the start and moves nothing. */
  expect(accountId: string): void {
    if (this.#of !== accountId) this.isModerator = recall(KEY) === accountId;
  }

  async look(accountId: string): Promise<void> {
    if (this.#of === accountId) return;
    this.#of = accountId;
    try {
      const role = await getRole();
      if (this.#of !== accountId) return;
      this.isModerator = role !== "person";
      remember(KEY, this.isModerator ? accountId : null);
    } catch {
      this.#of = null; // Asked again with the next page.
    }
  }

  forget(): void {
    this.#of = null;
    this.isModerator = false;
  }
}

export const staff = new Staff();
session.whenChanged(() => staff.forget());
