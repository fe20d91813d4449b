/** Who of some people is active, as far as they show it to the viewer. */
import { untrack } from "svelte";
import type { Author } from "../../client";
import { type PresenceSignal, presence } from "../../live";

/** The most people that are watched at once. */
const MAX_WATCHED = 50;

export class PresenceOf {
  #known = $state.raw<ReadonlyMap<string, PresenceSignal>>(new Map());

  /** For `$effect`: watches these people until the returned function is called. */
  watch(people: readonly Author[]): (() => void) | undefined {
    const ids = [...new Set(people.map(({ account_id }) => account_id))].slice(0, MAX_WATCHED);
    if (ids.length === 0) return undefined;
    return untrack(() =>
      presence.watch(ids, (known) => {
        this.#known = known;
      }),
    );
  }

  of(person: Author | undefined): PresenceSignal | null {
    return (person && this.#known.get(person.account_id)) ?? null;
  }
}
