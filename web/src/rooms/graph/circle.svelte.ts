/** One list of people: followers, following or requests, page by page, and searched as one types. */
import { type PageOf, Pages } from "../../base/pages.svelte";
import { api } from "../../client";
import { type People, type PersonInList, people } from "../../client/people";
import { Standing } from "./follow.svelte";

const PAGE = 50;
/** Searching looks at no more than this many people of one list; whoever follows more is found by the site's search. */
const MOST_SEARCHED = 2_000;

export interface Listed {
  readonly person: PersonInList;
  readonly standing: Standing;
}

export type CircleKind = "followers" | "following" | "requests";

export class Circle {
  readonly pages: Pages<Listed>;
  words = $state("");
  isSearching = $state.raw(false);
  readonly shown = $derived.by(() => filter(this.pages.items ?? [], this.words));
  #accountId = "";

  constructor(kind: CircleKind, username: string) {
    this.pages = new Pages<Listed>(
      async (cursor) => pageOf(await this.#fetch(kind, username, cursor)),
      ({ person }) => person.account_id,
    );
  }

  /** All that match are shown once this resolves: names that are not loaded yet are fetched. */
  async search(): Promise<void> {
    if (this.isSearching) return;
    this.isSearching = true;
    while (this.words !== "" && this.pages.hasMore && this.pages.failure === null) {
      if ((this.pages.items?.length ?? 0) >= MOST_SEARCHED) break;
      await this.pages.more();
    }
    this.isSearching = false;
  }

  async #fetch(kind: CircleKind, username: string, cursor: string | null): Promise<People> {
    const query = { cursor, limit: PAGE };
    if (kind === "requests") return people.getRequests(query);
    this.#accountId ||= (await api.getProfile(username)).account_id;
    return (kind === "followers" ? people.getFollowers : people.getFollowing)(this.#accountId, query);
  }
}

function pageOf({ people: found, next_cursor }: People): PageOf<Listed> {
  return { items: found.map(listed), next: next_cursor };
}

export function listed(person: PersonInList): Listed {
  const { account_id, username, is_private, relation } = person;
  return { person, standing: new Standing({ account_id, username, is_private, ...relation }) };
}

/** Both names, any case, accents ignored. */
export function filter(all: readonly Listed[], words: string): readonly Listed[] {
  const wanted = plain(words);
  if (wanted === "") return all;
  return all.filter(({ person }) => plain(`${person.username} ${person.full_name}`).includes(wanted));
}

function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase().trim();
}
