/** The number of unread notifications, for the badge. */
import { getUnreadCount } from "../../client/notifications";
import { session } from "../accounts";

export class Unread {
  count = $state.raw(0);
  /** Incremented by `set`: responses to earlier requests are outdated then. */
  #version = 0;

  /** Polls the count; resolves to whether the server answered. */
  async refresh(): Promise<boolean> {
    const version = this.#version;
    try {
      const count = await getUnreadCount();
      if (version === this.#version) this.count = count;
      return true;
    } catch {
      return false;
    }
  }

  /** Sets the count that came with another response. */
  set(count: number): void {
    this.#version += 1;
    this.count = count;
  }
}

export const unread = new Unread();
session.onChange(() => unread.set(0));
