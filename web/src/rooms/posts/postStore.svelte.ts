/**
 * The normalised store of posts: one object per post, shared by the feed, grids and the post's own page, so that a like
 * in one place shows in all.
 */
import { onFollowChanged } from "../../base/followEvents";
import { t } from "../../base/i18n";
import { OptimisticToggle } from "../../base/optimisticToggle";
import { paths, router } from "../../base/router";
import { onAccountHidden } from "../../base/visibilityEvents";
import type { Post } from "../../client";
import { type Mutation, offline } from "../../offline";
import { errorMessage, toasts } from "../../ui";
import { session } from "../accounts";

/** Beyond this the oldest entries are evicted; they are loaded again when needed. */
const MAX_POSTS = 1_500;

type PostStatus = "deleted" | "archived" | "shown";
type RemovalListener = (isGone: (post: Post) => boolean) => void;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A post and the optimistic toggles of its buttons. */
class PostEntry {
  readonly post: Mutable<Post>;
  readonly like: OptimisticToggle;
  readonly save: OptimisticToggle;

  constructor(loaded: Post) {
    const post = $state<Mutable<Post>>({ ...loaded });
    this.post = post;
    this.like = new OptimisticToggle(loaded.viewer_has_liked, {
      show: (on) => {
        post.viewer_has_liked = on;
        if (post.like_count !== null) post.like_count += on ? 1 : -1;
      },
      send: async (on) => void (await offline.submit({ kind: "like", id: post.post_id, on })),
      onFailure: (desired, error) => {
        const facts = { reason: errorMessage(error) };
        toasts.error(t(desired ? "post.likeFailed" : "post.unlikeFailed", facts));
      },
    });
    this.save = new OptimisticToggle(loaded.viewer_has_saved, {
      show: (on) => {
        post.viewer_has_saved = on;
      },
      send: async (on) => void (await offline.submit({ kind: "save", id: post.post_id, on })),
      onFailure: (_, error) => toasts.error(t("post.saveFailed", { reason: errorMessage(error) })),
    });
  }

  /** Merges a newer response, except while a like or save is in flight: the response may predate it. */
  update(loaded: Post): Post {
    if (!this.like.isSettled || !this.save.isSettled) return this.post;
    Object.assign(this.post, loaded);
    this.like.setConfirmed(loaded.viewer_has_liked);
    this.save.setConfirmed(loaded.viewer_has_saved);
    return this.applyPending();
  }

  /** Shows likes and saves that are still in the offline queue as done. */
  applyPending(): Post {
    for (const kind of ["like", "save"] as const) {
      const pending = offline.pendingValue(kind, this.post.post_id);
      if (pending !== undefined) this[kind].reconcile(pending);
    }
    return this.post;
  }
}

export class PostStore {
  readonly #entries = new Map<string, PostEntry>();
  readonly #listeners = new Set<RemovalListener>();
  /** Posts deleted, archived or unarchived in this tab; grids loaded before filter by it. */
  #statuses = $state.raw<ReadonlyMap<string, PostStatus>>(new Map());

  /** Adds or updates a post; returns the shared object. */
  put(loaded: Post): Post {
    const known = this.#entries.get(loaded.post_id);
    return known === undefined ? this.#insert(loaded) : known.update(loaded);
  }

  putAll(loaded: readonly Post[]): Post[] {
    return loaded.map((post) => this.put(post));
  }

  find(postId: string): Post | null {
    return this.#entries.get(postId)?.post ?? null;
  }

  /** Optimistic; resolves when the server has confirmed it or it was rolled back. Guests are sent to the login. */
  async like(postId: string, on: boolean): Promise<void> {
    if (session.status === "guest") return router.navigate(paths.login(location.pathname));
    await this.#entries.get(postId)?.like.set(on);
  }

  async save(postId: string, on: boolean): Promise<void> {
    if (session.status === "guest") return router.navigate(paths.login(location.pathname));
    await this.#entries.get(postId)?.save.set(on);
  }

  /** The post was saved by other means: into a collection. */
  markSaved(postId: string): void {
    this.#entries.get(postId)?.save.reconcile(true);
  }

  /** Merges fields that were changed here or came with another response. */
  patch(postId: string, facts: Partial<Post>): void {
    const known = this.#entries.get(postId);
    if (known !== undefined) Object.assign(known.post, facts);
  }

  /** Merges counts that the server has announced, unless a like of the viewer's is in flight: they may or may not include it. */
  setCounts(postId: string, counts: Pick<Post, "like_count" | "comment_count">): void {
    if (this.#entries.get(postId)?.like.isSettled) this.patch(postId, counts);
  }

  /** Tells every list to remove the posts that are gone or no longer visible to the viewer, and deletes their files here. */
  remove(isGone: (post: Post) => boolean): void {
    const gone = [...this.#entries.values()].map(({ post }) => post).filter(isGone);
    if (gone.length > 0) offline.forgetPosts(gone);
    for (const listener of this.#listeners) listener(isGone);
  }

  /** The author deleted, archived or unarchived the post. */
  setStatus(postId: string, status: PostStatus): void {
    this.#statuses = new Map(this.#statuses).set(postId, status);
    if (status !== "shown") this.remove(({ post_id }) => post_id === postId);
  }

  /** Whether a grid that contained the post should still list it: a public grid, or the archive. */
  isListed(postId: string, isArchive = false): boolean {
    const status = this.#statuses.get(postId);
    return status === undefined || status === (isArchive ? "archived" : "shown");
  }

  onRemoved(listener: RemovalListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The viewer follows the author of these posts now, or no longer. */
  setFollowed(accountId: string, isFollowed: boolean): void {
    for (const { post } of this.#entries.values())
      if (post.author.account_id === accountId) post.viewer_follows_author = isFollowed;
  }

  applyPending(pending: readonly Mutation[]): void {
    for (const { id } of pending) this.#entries.get(id)?.applyPending();
  }

  /** Rolls back a queued like or save that the server rejected. */
  revert(mutation: Mutation): void {
    if (mutation.kind === "like" || mutation.kind === "save")
      this.#entries.get(mutation.id)?.[mutation.kind].reconcile(!mutation.on);
  }

  clear(): void {
    this.#statuses = new Map();
    this.#entries.clear();
  }

  #insert(loaded: Post): Post {
    const fresh = new PostEntry(loaded);
    this.#entries.set(loaded.post_id, fresh);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_POSTS && oldest !== undefined) this.#entries.delete(oldest);
    return fresh.applyPending();
  }
}

export const postStore = new PostStore();
onFollowChanged((accountId, isFollowed) => postStore.setFollowed(accountId, isFollowed));
onAccountHidden(({ accountId, scope }) => {
  if (scope === "everything" || scope === "posts")
    postStore.remove(({ author }) => author.account_id === accountId);
  if (scope === "everything") offline.forgetAccount(accountId);
});
offline.watchPending((pending) => postStore.applyPending(pending));
offline.onSettled((mutation, _, problem) => problem && postStore.revert(mutation));
