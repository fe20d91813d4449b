/** Whether the one who is here moderates. Asked once, after the page is there: nothing else waits for it. */
import { getRole } from "../../client/safety";
import { session } from "../accounts";

const KEY = "tintype.staff";

class Staff {
  isModerator = $state.raw(false);
  #of: string | null = null;

  /** As it was the last time, so that what moderators have is there from the start and moves nothing. */
  expect(accountId: string): void {
    if (this.#of !== accountId) this.isModerator = remembered() === accountId;
  }

  async look(accountId: string): Promise<void> {
    if (this.#of === accountId) return;
    this.#of = accountId;
    try {
      const role = await getRole();
      if (this.#of !== accountId) return;
      this.isModerator = role !== "person";
      remember(this.isModerator ? accountId : null);
    } catch {
      this.#of = null; // Asked again with the next page.
    }
  }

  forget(): void {
    this.#of = null;
    this.isModerator = false;
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // A browser that keeps nothing.
  }
}

function remember(accountId: string | null): void {
  try {
    if (accountId === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, accountId);
  } catch {
    // It is asked for again the next time.
  }
}

export const staff = new Staff();
session.whenChanged(() => staff.forget());
