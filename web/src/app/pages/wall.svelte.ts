/** A profile and its posts, as one thing to load. */
import { api, type Post } from "../../client";
import { FollowedProfile } from "../../rooms/graph";
import { shelf } from "../../rooms/posts";

const PAGE = 24;

export class Wall {
  followed = $state.raw<FollowedProfile | null>(null);
  posts = $state.raw<readonly Post[] | null>(null);
  hasMore = $state.raw(false);
  isLoadingMore = $state.raw(false);
  failure = $state.raw<unknown>(null);
  #cursor: string | null = null;
  readonly #abort = new AbortController();

  async load(username: string): Promise<void> {
    this.failure = null;
    try {
      const profile = await api.getProfile(username, this.#abort.signal);
      this.followed = new FollowedProfile(profile);
      await this.#loadPage(profile.account_id);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.failure = error;
    }
  }

  async loadMore(): Promise<void> {
    if (this.followed === null || this.isLoadingMore) return;
    this.isLoadingMore = true;
    try {
      await this.#loadPage(this.followed.profile.account_id);
    } catch (error) {
      this.failure = error;
    } finally {
      this.isLoadingMore = false;
    }
  }

  /** The page was left: late answers no longer matter. */
  leave(): void {
    this.#abort.abort();
  }

  async #loadPage(accountId: string): Promise<void> {
    const page = await api.getPostsOf(accountId, this.#cursor, PAGE);
    this.posts = [...(this.posts ?? []), ...shelf.putAll(page.posts)];
    this.#cursor = page.next_cursor;
    this.hasMore = page.has_more && page.next_cursor !== null;
  }
}
