/** Whom one might want to follow. */
import { people } from "../../client/people";
import { explain, toasts } from "../../ui";
import { type Listed, listed } from "./circle.svelte";

export interface Suggested extends Listed {
  readonly mutualCount: number;
}

export class Suggestions {
  list = $state.raw<readonly Suggested[] | null>(null);
  failure = $state.raw<unknown>(null);

  async load(limit: number): Promise<void> {
    this.failure = null;
    try {
      const found = await people.getSuggestions(limit);
      this.list = found.map(({ person, followed_by_count }) => ({
        ...listed(person),
        mutualCount: followed_by_count,
      }));
    } catch (error) {
      this.failure = error;
    }
  }

  /** Gone at once, and back when the server did not agree. */
  async dismiss(accountId: string): Promise<void> {
    const before = this.list;
    this.list = before?.filter(({ person }) => person.account_id !== accountId) ?? null;
    try {
      await people.dismissSuggestion(accountId);
    } catch (error) {
      this.list = before;
      toasts.fail(explain(error));
    }
  }
}
