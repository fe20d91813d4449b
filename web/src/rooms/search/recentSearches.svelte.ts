/** Recent searches. Removing one is optimistic: it comes back when the server refuses. */
import { type Recent, search } from "../../client/search";
import { attempt } from "../../ui/attempt";

export class RecentSearchList {
  list = $state.raw<readonly Recent[]>([]);
  /** The list has loaded or failed: what is below it can be shown without shifting later. */
  isSettled = $state.raw(false);

  async load(): Promise<void> {
    try {
      this.list = await search.getRecent();
    } catch {
      this.list = []; // A convenience: the search works without it.
    }
    this.isSettled = true;
  }

  async add(kind: Recent["kind"], subject: string): Promise<void> {
    try {
      await search.addRecent(kind, subject);
    } catch {
      // Not worth an error message: the result is already open.
    }
  }

  remove(searchId: string): Promise<void> {
    return this.#set(
      this.list.filter(({ search_id }) => search_id !== searchId),
      () => search.removeRecent(searchId),
    );
  }

  clear(): Promise<void> {
    return this.#set([], search.clearRecent);
  }

  async #set(list: readonly Recent[], send: () => Promise<null>): Promise<void> {
    const before = this.list;
    this.list = list;
    const rollBack = () => {
      this.list = before;
    };
    await attempt(send, { rollBack });
  }
}
