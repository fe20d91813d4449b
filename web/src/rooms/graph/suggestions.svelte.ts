/** Suggestions of whom to follow. */
import { people, type Suggestion } from "../../client/people";
import { attempt } from "../../ui/attempt";
import { type FollowListEntry, followListEntry } from "./followList.svelte";

export interface SuggestionEntry extends FollowListEntry {
  readonly mutualCount: number;
  readonly reason: Suggestion["reason"];
}

export class Suggestions {
  list = $state.raw<readonly SuggestionEntry[] | null>(null);
  failure = $state.raw<unknown>(null);

  async load(limit: number): Promise<void> {
    this.failure = null;
    try {
      const suggestions = await people.getSuggestions(limit);
      this.list = suggestions.map(({ person, followed_by_count, reason }) => ({
        ...followListEntry(person),
        mutualCount: followed_by_count,
        reason,
      }));
    } catch (error) {
      this.failure = error;
    }
  }

  /** Removed at once; restored when the server refuses. */
  async dismiss(accountId: string): Promise<void> {
    const before = this.list;
    this.list = before?.filter(({ person }) => person.account_id !== accountId) ?? null;
    const rollBack = () => {
      this.list = before;
    };
    await attempt(() => people.dismissSuggestion(accountId), { rollBack });
  }
}
