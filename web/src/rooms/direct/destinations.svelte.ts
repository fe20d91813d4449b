/** Where a post or story is sent: conversations of the inbox, groups among them, or people found by name. */
import type { Author } from "../../client";
import { findPeople } from "../../client/autocomplete";
import { direct, type GroupPhoto } from "../../client/direct";
import { mutations } from "../../live";
import { Autocomplete } from "../../ui/forms/autocomplete.svelte";
import { session } from "../accounts";
import { inbox } from "./inbox.svelte";
import { threadTitle } from "./threadTexts";

export interface Destination {
  readonly key: string;
  /** Null for somebody whom one has not written with yet. */
  readonly threadId: string | null;
  readonly people: readonly Author[];
  readonly isGroup: boolean;
  readonly photo: GroupPhoto | null;
  readonly title: string;
}

const MAX_SHOWN = 12;

export class Destinations {
  text = $state("");
  chosen = $state.raw<readonly Destination[]>([]);
  readonly #found = new Autocomplete<Author>(findPeople);

  readonly #threads = $derived.by((): Destination[] =>
    (inbox.folders.inbox.items ?? []).map(({ thread_id, kind, name, people, photo }) => ({
      key: `thread:${thread_id}`,
      threadId: thread_id,
      people,
      isGroup: kind === "group",
      photo,
      title: threadTitle(kind, name, people),
    })),
  );
  /** Conversations first, then people without one. */
  readonly shown = $derived.by((): Destination[] => {
    const words = this.text.trim().toLocaleLowerCase();
    const threads = words === "" ? this.#threads : this.#threads.filter((each) => matches(each, words));
    const known = new Set(
      this.#threads
        .filter(({ isGroup }) => !isGroup)
        .flatMap(({ people }) => people.map(({ account_id }) => account_id)),
    );
    const own = session.account?.account_id;
    const strangers =
      words === ""
        ? []
        : this.#found.results.filter(({ account_id }) => !known.has(account_id) && account_id !== own);
    return [...threads.slice(0, MAX_SHOWN), ...strangers.map(toDestination)];
  });
  readonly isNothingFound = $derived.by(
    () =>
      this.text.trim() !== "" && this.#found.answeredQuery === this.text.trim() && this.shown.length === 0,
  );

  search(): void {
    this.#found.search(this.text);
  }

  isChosen({ key }: Destination): boolean {
    return this.chosen.some((each) => each.key === key);
  }

  toggle(destination: Destination): void {
    this.chosen = this.isChosen(destination)
      ? this.chosen.filter(({ key }) => key !== destination.key)
      : [...this.chosen, destination];
  }

  /** Puts the message into every chosen conversation's queue. */
  async send(body: Readonly<Record<string, unknown>>): Promise<void> {
    for (const destination of this.chosen) {
      const threadId =
        destination.threadId ?? (await direct.openPair(destination.people[0]?.account_id ?? ""));
      await mutations.enqueue(threadId, { kind: "send", body });
    }
    inbox.refreshSoon();
  }
}

function toDestination(person: Author): Destination {
  return {
    key: `person:${person.account_id}`,
    threadId: null,
    people: [person],
    isGroup: false,
    photo: null,
    title: person.full_name || person.username,
  };
}

function matches({ title, people }: Destination, words: string): boolean {
  const names = [title, ...people.flatMap(({ username, full_name }) => [username, full_name])];
  return names.some((name) => name.toLocaleLowerCase().includes(words));
}
