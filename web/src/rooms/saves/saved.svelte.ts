/** What one keeps: all of it or one collection, the collections themselves, and what is chosen to be moved. */
import { SvelteSet } from "svelte/reactivity";
import { Pages } from "../../base/pages.svelte";
import { type Collection, collections } from "../../client/collections";
import { explain, toasts } from "../../ui";
import { shelf } from "../posts";
import { type Tile, tileOf } from "../posts/wall";

const PAGE = 24;

export class Saved {
  collections = $state.raw<readonly Collection[]>([]);
  isChoosing = $state.raw(false);
  readonly chosen = new SvelteSet<string>();
  readonly pages: Pages<Tile>;
  readonly collectionId: string | null;
  readonly current = $derived.by(() =>
    this.collections.find((each) => each.collection_id === this.collectionId),
  );

  constructor(collectionId: string | null) {
    this.collectionId = collectionId;
    this.pages = new Pages<Tile>(
      async (cursor) => {
        const page = await collections.getSaves(collectionId, { cursor, limit: PAGE });
        return { items: shelf.putAll(page.posts).map(tileOf), next: page.has_more ? page.next_cursor : null };
      },
      ({ post_id }) => post_id,
    );
  }

  async load(): Promise<void> {
    await Promise.all([this.pages.more(), this.#loadCollections()]);
  }

  choose(postId: string): void {
    if (!this.chosen.delete(postId)) this.chosen.add(postId);
  }

  stopChoosing(): void {
    this.chosen.clear();
    this.isChoosing = false;
  }

  /** Resolves with the new collection, or null after saying why not. */
  make = (name: string) => this.#attempt(() => collections.make(name));
  rename = (collectionId: string, name: string) =>
    this.#attempt(() => done(collections.rename(collectionId, name)));
  remove = (collectionId: string) => this.#attempt(() => done(collections.remove(collectionId)));

  /** The chosen posts are in that collection, and no longer in this one. */
  moveTo(collectionId: string): Promise<true | null> {
    return this.#each(async (postId) => {
      await collections.putInto(collectionId, postId);
      if (this.collectionId !== null) await collections.takeOut(this.collectionId, postId);
    });
  }

  /** Out of this collection; out of everything where all that is saved is shown. */
  takeOut(): Promise<true | null> {
    const from = this.collectionId;
    return this.#each((postId) =>
      from === null ? collections.unsave(postId) : collections.takeOut(from, postId),
    );
  }

  /** One after the other: what is done stays done, and leaves the screen, when a later one fails. */
  async #each(act: (postId: string) => Promise<unknown>): Promise<true | null> {
    const leaves = this.collectionId !== null;
    return this.#attempt(async () => {
      for (const postId of [...this.chosen]) {
        await act(postId);
        this.chosen.delete(postId);
        if (leaves) this.pages.remove(postId);
      }
      this.stopChoosing();
      if (!leaves) await this.pages.again();
      return true as const;
    });
  }

  async #attempt<T>(act: () => Promise<T>): Promise<T | null> {
    try {
      const done = await act();
      await this.#loadCollections();
      return done;
    } catch (error) {
      toasts.fail(explain(error));
      return null;
    }
  }

  async #loadCollections(): Promise<void> {
    try {
      this.collections = await collections.list();
    } catch (error) {
      toasts.fail(explain(error));
    }
  }
}

async function done(request: Promise<null>): Promise<true> {
  await request;
  return true;
}
