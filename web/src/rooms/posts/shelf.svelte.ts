/**
 * Every post this tab has seen, once each: the feed, a profile and a post's own page share one object,
 * so that a like given in one place is seen in all.
 */
import { t } from "../../base/i18n";
import { whenParted } from "../../base/parting";
import { paths, router } from "../../base/router";
import { Toggle } from "../../base/toggle";
import type { Post } from "../../client";
import { offline, type Wish } from "../../offline";
import { explain, toasts } from "../../ui";
import { session } from "../accounts";

/** Enough for a long evening; beyond it the oldest are forgotten and simply loaded again. */
const MOST = 1_500;

type Fate = "deleted" | "archived" | "shown";
type DropListener = (isGone: (post: Post) => boolean) => void;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A post on the shelf, with its buttons' memory. */
class Shelved {
  readonly post: Mutable<Post>;
  readonly like: Toggle;
  readonly save: Toggle;

  constructor(loaded: Post) {
    const post = $state<Mutable<Post>>({ ...loaded });
    this.post = post;
    this.like = new Toggle(loaded.viewer_has_liked, {
      show: (on) => {
        post.viewer_has_liked = on;
        if (post.like_count !== null) post.like_count += on ? 1 : -1;
      },
      send: async (on) => void (await offline.carry({ kind: "like", id: post.post_id, on })),
      failed: (wish, error) => {
        const facts = { reason: explain(error) };
        toasts.fail(t(wish ? "post.likeFailed" : "post.unlikeFailed", facts));
      },
    });
    this.save = new Toggle(loaded.viewer_has_saved, {
      show: (on) => {
        post.viewer_has_saved = on;
      },
      send: async (on) => void (await offline.carry({ kind: "save", id: post.post_id, on })),
      failed: (_, error) => toasts.fail(t("post.saveFailed", { reason: explain(error) })),
    });
  }

  /** What is still on its way is not overwritten by what the server knew before. */
  update(loaded: Post): Post {
    if (!this.like.isSettled || !this.save.isSettled) return this.post;
    Object.assign(this.post, loaded);
    this.like.adopt(loaded.viewer_has_liked);
    this.save.adopt(loaded.viewer_has_saved);
    return this.overlay();
  }

  /** Wishes that wait for a connection are shown as if they had been met. */
  overlay(): Post {
    for (const kind of ["like", "save"] as const) {
      const wished = offline.wished(kind, this.post.post_id);
      if (wished !== undefined) this[kind].correct(wished);
    }
    return this.post;
  }
}

export class Shelf {
  readonly #shelved = new Map<string, Shelved>();
  readonly #listeners = new Set<DropListener>();
  /** Where posts went before this tab's eyes; walls that were loaded before look here. */
  #fates = $state.raw<ReadonlyMap<string, Fate>>(new Map());

  /** The one object for this post, brought up to date, except where a like is still on its way. */
  put(loaded: Post): Post {
    const known = this.#shelved.get(loaded.post_id);
    return known === undefined ? this.#place(loaded) : known.update(loaded);
  }

  putAll(loaded: readonly Post[]): Post[] {
    return loaded.map((post) => this.put(post));
  }

  find(postId: string): Post | null {
    return this.#shelved.get(postId)?.post ?? null;
  }

  /** Shown at once; resolves when the server agrees or the screen has been rolled back. Guests are asked in first. */
  async like(postId: string, on: boolean): Promise<void> {
    if (session.standing === "guest") return router.navigate(paths.login(location.pathname));
    await this.#shelved.get(postId)?.like.set(on);
  }

  async save(postId: string, on: boolean): Promise<void> {
    if (session.standing === "guest") return router.navigate(paths.login(location.pathname));
    await this.#shelved.get(postId)?.save.set(on);
  }

  /** It was kept by another way: in a collection. */
  noteSaved(postId: string): void {
    this.#shelved.get(postId)?.save.correct(true);
  }

  /** Facts that its author has just changed, or that another answer brought. */
  change(postId: string, facts: Partial<Post>): void {
    const known = this.#shelved.get(postId);
    if (known !== undefined) Object.assign(known.post, facts);
  }

  /** Posts that are gone, or that somebody no longer wants to see: every list lets go of them. */
  drop(isGone: (post: Post) => boolean): void {
    for (const listener of this.#listeners) listener(isGone);
  }

  /** Its author deleted it, put it away, or took it out again. */
  move(postId: string, fate: Fate): void {
    this.#fates = new Map(this.#fates).set(postId, fate);
    if (fate !== "shown") this.drop(({ post_id }) => post_id === postId);
  }

  /** Whether it still hangs on a wall on which it was found: everybody's, or the archive's. */
  hangs(postId: string, isArchive = false): boolean {
    const fate = this.#fates.get(postId);
    return fate === undefined || fate === (isArchive ? "archived" : "shown");
  }

  whenDropped(listener: DropListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  overlay(waiting: readonly Wish[]): void {
    for (const { id } of waiting) this.#shelved.get(id)?.overlay();
  }

  /** A wish that waited was refused: what is shown goes back to what was before it. */
  takeBack(wish: Wish): void {
    if (wish.kind === "like" || wish.kind === "save")
      this.#shelved.get(wish.id)?.[wish.kind].correct(!wish.on);
  }

  clear(): void {
    this.#fates = new Map();
    this.#shelved.clear();
  }

  #place(loaded: Post): Post {
    const fresh = new Shelved(loaded);
    this.#shelved.set(loaded.post_id, fresh);
    const [oldest] = this.#shelved.keys();
    if (this.#shelved.size > MOST && oldest !== undefined) this.#shelved.delete(oldest);
    return fresh.overlay();
  }
}

export const shelf = new Shelf();
whenParted(({ accountId, from }) => {
  if (from === "everything" || from === "posts") shelf.drop(({ author }) => author.user_id === accountId);
});
offline.watch((waiting) => shelf.overlay(waiting));
offline.listen((wish, _, problem) => problem && shelf.takeBack(wish));
