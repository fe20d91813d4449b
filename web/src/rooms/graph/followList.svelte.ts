/** A paginated list of followers, followed people or follow requests, with a client-side filter. */
import { type ListPage, PagedList } from "../../base/pagedList.svelte";
import { api } from "../../client";
import { type People, type PersonInList, people } from "../../client/people";
import { FollowState } from "./followState.svelte";

const PAGE_SIZE = 50;
/** The filter loads at most this many people of a list; beyond that the site's search is the way to find somebody. */
const MAX_SEARCHED = 2_000;

export interface FollowListEntry {
  readonly person: PersonInList;
  readonly followState: FollowState;
}

export type FollowListKind = "followers" | "following" | "requests";

export class FollowList {
  readonly pages: PagedList<FollowListEntry>;
  query = $state("");
  isSearching = $state.raw(false);
  readonly filtered = $derived.by(() => filter(this.pages.items ?? [], this.query));
  #accountId = "";

  constructor(kind: FollowListKind, username: string) {
    this.pages = new PagedList<FollowListEntry>(
      async (cursor) => pageOf(await this.#fetch(kind, username, cursor)),
      ({ person }) => person.account_id,
    );
  }

  /** Loads the remaining pages, so that the filter sees everybody. */
  async search(): Promise<void> {
    if (this.isSearching) return;
    this.isSearching = true;
    while (this.query !== "" && this.pages.hasMore && this.pages.failure === null) {
      if ((this.pages.items?.length ?? 0) >= MAX_SEARCHED) break;
      await this.pages.loadMore();
    }
    this.isSearching = false;
  }

  async #fetch(kind: FollowListKind, username: string, cursor: string | null): Promise<People> {
    const query = { cursor, limit: PAGE_SIZE };
    if (kind === "requests") return people.getRequests(query);
    this.#accountId ||= (await api.getProfile(username)).account_id;
    return (kind === "followers" ? people.getFollowers : people.getFollowing)(this.#accountId, query);
  }
}

function pageOf({ people: found, next_cursor }: People): ListPage<FollowListEntry> {
  return { items: found.map(followListEntry), next: next_cursor };
}

export function followListEntry(person: PersonInList): FollowListEntry {
  const { account_id, username, is_private, relation } = person;
  return { person, followState: new FollowState({ account_id, username, is_private, ...relation }) };
}

/** Those whose username or full name contains the query, ignoring case and accents. */
export function filter(all: readonly FollowListEntry[], query: string): readonly FollowListEntry[] {
  const needle = normalize(query);
  if (needle === "") return all;
  return all.filter(({ person }) => normalize(`${person.username} ${person.full_name}`).includes(needle));
}

function normalize(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase().trim();
}
