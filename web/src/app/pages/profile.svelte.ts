/** The state of a profile page: the profile with its first posts, tagged posts, highlights and mutual follows. */
import { nextCursor, type PagedList } from "../../base/pagedList.svelte";
import { isNotFound, type PostPage } from "../../client";
import { type Highlight, type Mutuals, type ProfilePage, people } from "../../client/people";
import { setListed } from "../../client/peopleLists";
import { session } from "../../rooms/accounts";
import { FollowState } from "../../rooms/graph";
import { postStore } from "../../rooms/posts";
import { createTileList, type Tile } from "../../rooms/posts/grid";

const PAGE_SIZE = 24;

export class Profile {
  facts = $state.raw<ProfilePage | null>(null);
  followState = $state.raw<FollowState | null>(null);
  mutuals = $state.raw<Mutuals | null>(null);
  highlights = $state.raw<readonly Highlight[]>([]);
  failure = $state.raw<unknown>(null);
  isBlocked = $state.raw(false);
  readonly posts = this.#tileList((id, cursor) => people.getPosts(id, { cursor, limit: PAGE_SIZE }));
  readonly tagged = this.#tileList((id, cursor) => people.getTagged(id, { cursor, limit: PAGE_SIZE }));
  readonly #abort = new AbortController();

  async load(username: string): Promise<void> {
    this.failure = null;
    try {
      const profile = await people.getProfile(username, this.#abort.signal);
      this.facts = profile;
      this.followState = new FollowState({ ...profile, ...profile.relation });
      this.posts.start({ items: profile.posts, next: nextCursor(profile) });
      if (profile.shows_posts) void this.#loadExtras(profile);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.failure = error;
      if (isNotFound(error)) postStore.remove(({ author }) => author.username === username);
    }
  }

  /** Unblocks; the follows that the block ended are not restored. */
  async unblock(username: string): Promise<void> {
    if (this.facts === null) return;
    await setListed("blocks", this.facts.account_id, false);
    this.isBlocked = false;
    await this.load(username);
  }

  /** Ignores responses that arrive after unmounting. */
  cancel(): void {
    this.#abort.abort();
    this.posts.cancel();
    this.tagged.cancel();
  }

  /** After an overlay that may have changed them. */
  async reloadHighlights(): Promise<void> {
    const { facts } = this;
    if (facts?.shows_posts)
      this.highlights = await people.getHighlights(facts.account_id).catch(() => this.highlights);
  }

  /** Highlights and mutual follows are optional: their failure is ignored. */
  async #loadExtras({ account_id, relation }: ProfilePage): Promise<void> {
    const [highlights, mutuals] = await Promise.allSettled([
      people.getHighlights(account_id),
      relation.is_self || session.status === "guest" ? null : people.getMutuals(account_id),
    ]);
    if (highlights.status === "fulfilled") this.highlights = highlights.value;
    if (mutuals.status === "fulfilled") this.mutuals = mutuals.value;
  }

  #tileList(fetch: (accountId: string, cursor: string | null) => Promise<PostPage>): PagedList<Tile> {
    return createTileList((cursor) => fetch(this.facts?.account_id ?? "", cursor));
  }
}
