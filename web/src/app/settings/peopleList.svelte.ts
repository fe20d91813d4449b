/** One of the viewer's people lists (blocked, muted, restricted, close friends), paginated. */
import { PagedList } from "../../base/pagedList.svelte";
import {
  blockByName,
  getPeopleList,
  type ListedPerson,
  type PeopleList,
  setListed,
} from "../../client/peopleLists";

export class PeopleListEditor {
  readonly pages: PagedList<ListedPerson>;
  readonly #list: PeopleList;

  constructor(list: PeopleList) {
    this.#list = list;
    this.pages = new PagedList<ListedPerson>(
      async (cursor) => {
        const { people, next_cursor } = await getPeopleList(list, cursor);
        return { items: people, next: next_cursor };
      },
      ({ account_id }) => account_id,
    );
  }

  async remove(accountId: string): Promise<void> {
    await setListed(this.#list, accountId, false);
    this.pages.remove(accountId);
  }

  /** Blocks somebody by name and reloads. */
  async block(username: string): Promise<void> {
    await blockByName(username);
    await this.pages.reload();
  }

  /** Adds somebody and reloads: the list has more fields of a person than the search that found them. */
  async add(accountId: string): Promise<void> {
    await setListed(this.#list, accountId, true);
    await this.pages.reload();
  }
}
