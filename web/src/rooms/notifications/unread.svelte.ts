/** How many lines wait to be read: the badge, kept true politely. */
import { getUnread } from "../../client/activity";
import { session } from "../accounts";

export class Unread {
  count = $state.raw(0);
  /** Raised when somebody reads or leaves: an answer from before then is out of date. */
  #turn = 0;

  /** Says whether an answer came; a failed look is repeated at the next occasion. */
  async look(): Promise<boolean> {
    const turn = this.#turn;
    try {
      const count = await getUnread();
      if (turn === this.#turn) this.count = count;
      return true;
    } catch {
      return false;
    }
  }

  /** The list itself has just told. */
  adopt(count: number): void {
    this.#turn += 1;
    this.count = count;
  }
}

export const unread = new Unread();
session.whenChanged(() => unread.adopt(0));
