/** Choosing people: found by name, or those one has written with lately while nothing is typed. */
import type { Author } from "../../client";
import { findPeople } from "../../client/autocomplete";
import { Autocomplete } from "../../ui/forms/autocomplete.svelte";
import { session } from "../accounts";
import { inbox } from "./inbox.svelte";

type Person = Author;

export class PeoplePicker {
  text = $state("");
  chosen = $state.raw<readonly Person[]>([]);
  readonly #found = new Autocomplete<Person>(findPeople);
  readonly #max: number;
  /** People who cannot be chosen: they are in the group already. */
  readonly #excluded: ReadonlySet<string>;

  constructor(max: number, excluded: readonly string[] = []) {
    this.#max = max;
    this.#excluded = new Set([...excluded, session.account?.account_id ?? ""]);
  }

  readonly isFull = $derived.by(() => this.chosen.length >= this.#max);
  readonly isSearching = $derived(this.text.trim() !== "");
  readonly people = $derived.by(() => {
    const listed = this.isSearching ? this.#found.results : recentPeople();
    return listed.filter(({ account_id }) => !this.#excluded.has(account_id));
  });
  readonly isNobodyFound = $derived.by(
    () => this.isSearching && this.#found.answeredQuery === this.text.trim() && this.people.length === 0,
  );

  search(): void {
    this.#found.search(this.text);
  }

  isChosen({ account_id }: Person): boolean {
    return this.chosen.some((each) => each.account_id === account_id);
  }

  toggle(person: Person): void {
    if (this.isChosen(person))
      this.chosen = this.chosen.filter(({ account_id }) => account_id !== person.account_id);
    else if (!this.isFull) this.chosen = [...this.chosen, person];
    this.text = "";
    this.#found.clear();
  }
}

function recentPeople(): Person[] {
  const pairs = (inbox.folders.inbox.items ?? []).filter(({ kind }) => kind === "pair");
  return pairs.flatMap(({ people }) => people).slice(0, 8);
}
