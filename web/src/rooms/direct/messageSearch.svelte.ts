/** Searches one's own messages by their words, in all threads or in one. */
import { nextCursor, PagedList } from "../../base/pagedList.svelte";
import { direct, type Message } from "../../client/direct";

export class MessageSearchState {
  words = $state("");
  readonly threadId: string | null;
  /** Null while nothing is searched for. */
  results = $state.raw<PagedList<Message> | null>(null);

  constructor(words: string, threadId: string | null) {
    this.words = words;
    this.threadId = threadId;
    this.search();
  }

  search(): void {
    const words = this.words.trim();
    this.results?.cancel();
    this.results = words === "" ? null : this.#list(words);
    void this.results?.loadMore();
  }

  #list(words: string): PagedList<Message> {
    return new PagedList<Message>(
      async (cursor) => {
        const page = await direct.search(words, this.threadId, cursor);
        return { items: page.messages, next: nextCursor(page) };
      },
      ({ message_id }) => message_id,
    );
  }
}
