/** The numbers of unread notifications and of conversations with unread messages, for the badges. */
import { session } from "../accounts";

export class Unread {
  count = $state.raw(0);
  messages = $state.raw(0);
  /** Incremented by `set` and by each request for the count: responses to earlier requests are outdated then. */
  version = 0;

  /** Sets the count that came with another response. */
  set(count: number): void {
    this.version += 1;
    this.count = count;
  }
}

export const unread = new Unread();
session.onChange(() => {
  unread.set(0);
  unread.messages = 0;
});
