/** A profile and its walls: the first answer brings the person and the first posts together. */
import { type PageOf, Pages } from "../../base/pages.svelte";
import type { PostPage } from "../../client";
import { type Highlight, type Mutuals, type ProfilePage, people } from "../../client/people";
import { session } from "../../rooms/accounts";
import { Standing } from "../../rooms/graph";
import { shelf } from "../../rooms/posts";
import { type Tile, tileOf } from "../../rooms/posts/wall";

const PAGE = 24;

export class Wall {
  profile = $state.raw<ProfilePage | null>(null);
  standing = $state.raw<Standing | null>(null);
  mutuals = $state.raw<Mutuals | null>(null);
  highlights = $state.raw<readonly Highlight[]>([]);
  failure = $state.raw<unknown>(null);
  isBlocked = $state.raw(false);
  readonly posts = this.#pages((id, cursor) => people.getPosts(id, { cursor, limit: PAGE }));
  readonly tagged = this.#pages((id, cursor) => people.getTagged(id, { cursor, limit: PAGE }));
  readonly #abort = new AbortController();

  async load(username: string): Promise<void> {
    this.failure = null;
    try {
      const profile = await people.getProfile(username, this.#abort.signal);
      this.profile = profile;
      this.standing = new Standing({ ...profile, ...profile.relationship });
      this.posts.begin({ items: profile.posts, next: profile.has_more ? profile.next_cursor : null });
      if (profile.shows_posts) void this.#decorate(profile);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.failure = error;
    }
  }

  /** The two see each other again; follows do not come back by themselves. */
  async unblock(username: string): Promise<void> {
    if (this.profile === null) return;
    await people.treat("blocks", this.profile.account_id, false);
    this.isBlocked = false;
    await this.load(username);
  }

  /** The page was left: late answers no longer matter. */
  leave(): void {
    this.#abort.abort();
    this.posts.leave();
    this.tagged.leave();
  }

  /** What hangs above the walls may have changed in a page shown over this one. */
  async renewHighlights(): Promise<void> {
    const { profile } = this;
    if (profile?.shows_posts)
      this.highlights = await people.getHighlights(profile.account_id).catch(() => this.highlights);
  }

  /** Pleasant to have, and no reason to fail. */
  async #decorate({ account_id, relationship }: ProfilePage): Promise<void> {
    const [highlights, mutuals] = await Promise.allSettled([
      people.getHighlights(account_id),
      relationship.is_self || session.standing === "guest" ? null : people.getMutuals(account_id),
    ]);
    if (highlights.status === "fulfilled") this.highlights = highlights.value;
    if (mutuals.status === "fulfilled") this.mutuals = mutuals.value;
  }

  #pages(fetch: (accountId: string, cursor: string | null) => Promise<PostPage>): Pages<Tile> {
    return new Pages<Tile>(
      async (cursor) => tilesOf(await fetch(this.profile?.account_id ?? "", cursor)),
      ({ post_id }) => post_id,
    );
  }
}

export function tilesOf({ posts, has_more, next_cursor }: PostPage): PageOf<Tile> {
  return { items: shelf.putAll(posts).map(tileOf), next: has_more ? next_cursor : null };
}
