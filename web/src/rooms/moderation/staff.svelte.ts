/** Whether the one who is here moderates. Asked once, after the page is there: nothing else waits for it. */
import { getRole } from "../../client/safety";
import { session } from "../accounts";

class Staff {
  isModerator = $state.raw(false);
  #of: string | null = null;

  async look(accountId: string): Promise<void> {
    if (this.#of === accountId) return;
    this.#of = accountId;
    try {
      const role = await getRole();
      if (this.#of === accountId) this.isModerator = role !== "person";
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
