/** Saved posts, all of them or one collection; the list of collections; and the selection of posts to move. */
import { SvelteSet } from "svelte/reactivity";
import type { PagedList } from "../../base/pagedList.svelte";
import { type Collection, collections } from "../../client/collections";
import { errorMessage, toasts } from "../../ui";
import { createTileList, type Tile } from "../posts/grid";

const PAGE_SIZE = 24;

export class SavedPosts {
  collections = $state.raw<readonly Collection[]>([]);
  isSelecting = $state.raw(false);
  readonly selected = new SvelteSet<string>();
  readonly pages: PagedList<Tile>;
  readonly collectionId: string | null;
  readonly current = $derived.by(() =>
    this.collections.find((each) => each.collection_id === this.collectionId),
  );

  constructor(collectionId: string | null) {
    this.collectionId = collectionId;
    this.pages = createTileList((cursor) => collections.getSaves(collectionId, { cursor, limit: PAGE_SIZE }));
  }

  async load(): Promise<void> {
    await Promise.all([this.pages.loadMore(), this.#loadCollections()]);
  }

  toggleSelected(postId: string): void {
    if (!this.selected.delete(postId)) this.selected.add(postId);
  }

  stopSelecting(): void {
    this.selected.clear();
    this.isSelecting = false;
  }

  /** Resolves to the new collection, or null after an error message. */
  create = (name: string) => this.#attempt(() => collections.create(name));
  rename = (collectionId: string, name: string) =>
    this.#attempt(() => done(collections.rename(collectionId, name)));
  remove = (collectionId: string) => this.#attempt(() => done(collections.remove(collectionId)));

  /** Moves the selected posts from this collection to another. */
  moveTo(collectionId: string): Promise<true | null> {
    return this.#forEachSelected(async (postId) => {
      await collections.addPost(collectionId, postId);
      if (this.collectionId !== null) await collections.removePost(this.collectionId, postId);
    });
  }

  /** Removes the selected posts from this collection; in the view of all saved posts, unsaves them. */
  removeSelected(): Promise<true | null> {
    const from = this.collectionId;
    return this.#forEachSelected((postId) =>
      from === null ? collections.unsave(postId) : collections.removePost(from, postId),
    );
  }

  /** One request after the other: when one fails, those before it stay done. */
  async #forEachSelected(act: (postId: string) => Promise<unknown>): Promise<true | null> {
    const isRemovedHere = this.collectionId !== null;
    return this.#attempt(async () => {
      for (const postId of [...this.selected]) {
        await act(postId);
        this.selected.delete(postId);
        if (isRemovedHere) this.pages.remove(postId);
      }
      this.stopSelecting();
      if (!isRemovedHere) await this.pages.reload();
      return true as const;
    });
  }

  async #attempt<T>(act: () => Promise<T>): Promise<T | null> {
    try {
      const done = await act();
      await this.#loadCollections();
      return done;
    } catch (error) {
      toasts.error(errorMessage(error));
      return null;
    }
  }

  async #loadCollections(): Promise<void> {
    try {
      this.collections = await collections.list();
    } catch (error) {
      toasts.error(errorMessage(error));
    }
  }
}

async function done(request: Promise<null>): Promise<true> {
  await request;
  return true;
}
