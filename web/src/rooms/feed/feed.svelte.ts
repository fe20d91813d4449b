/**
 * The home feed of this tab. It outlives its page, so that going back finds the same posts at the same position; new posts
 * wait behind a pill instead of shifting what is being read.
 */

import { type FeedMode, prefs, setPref } from "../../base/prefs.svelte";
import { onAccountHidden } from "../../base/visibilityEvents";
import { api, type Post, type PostPage } from "../../client";
import { FEED_PAGE } from "../../client/prefetch";
import { isUnreachable, offline } from "../../offline";
import { session } from "../accounts";
import { postStore } from "../posts";
import { spread } from "./spread";

/** How many posts are cached for reading offline. */
const MAX_CACHED = 60;

const CACHE_KEY = "feed";

export type FeedStatus = "idle" | "loading" | "ready" | "failed";

export class Feed {
  posts = $state.raw<readonly Post[]>([]);
  /** Newer posts that have not been shown yet, newest first. */
  newPosts = $state.raw<readonly Post[]>([]);
  status = $state.raw<FeedStatus>("idle");
  moreStatus = $state.raw<"idle" | "loading" | "failed">("idle");
  hasMore = $state.raw(false);
  failure = $state.raw<unknown>(null);
  /** The posts come from the offline cache: the server is unreachable. */
  isCached = $state.raw(false);

  #cursor: string | null = null;
  #newPostsPage: PostPage | null = null;
  /** The viewer's own post that was published before the first page was there. */
  #early: Post | null = null;
  /** Incremented by every reset, so that late responses to earlier requests are ignored. */
  #generation = 0;

  /** Loads the first page unless it is there already, or sets `failure`. */
  async load(): Promise<void> {
    if (this.status === "loading" || this.status === "ready") return;
    this.status = "loading";
    const generation = this.#generation;
    try {
      const page = await this.#fetchPage(null);
      if (generation === this.#generation) this.#start(page);
    } catch (error) {
      const cached = isUnreachable(error) ? await offline.read<readonly Post[]>(CACHE_KEY) : null;
      if (generation !== this.#generation) return;
      if (cached !== null) return this.#startFromCache(cached);
      this.failure = error;
      this.status = "failed";
    }
  }

  async loadMore(): Promise<void> {
    if (this.status !== "ready" || !this.hasMore || this.moreStatus === "loading") return;
    this.moreStatus = "loading";
    const generation = this.#generation;
    try {
      const page = await this.#fetchPage(this.#cursor);
      if (generation !== this.#generation) return;
      this.posts = [...this.posts, ...this.#withoutKnown(page.posts)];
      this.#setCursor(page);
      this.moreStatus = "idle";
      this.#cache();
    } catch {
      if (generation === this.#generation) this.moreStatus = "failed"; // The footer shows it with a retry button.
    }
  }

  /**
   * Checks for new posts without changing what is shown; resolves to whether the server answered. They are looked for in
   * chronological order, where none is missing because of its rank.
   */
  async checkForNew(): Promise<boolean> {
    if (this.status !== "ready") return false;
    if (this.isCached) return this.refresh(); // The connection may be back: replace the cached posts.
    const generation = this.#generation;
    try {
      const page = await api.getFeed("following", null, FEED_PAGE);
      if (generation === this.#generation) this.#compare(page);
      return true;
    } catch {
      return false;
    }
  }

  /** Reloads the first page without showing a skeleton; resolves to whether the server answered. Otherwise nothing changes. */
  async refresh(): Promise<boolean> {
    const generation = this.#generation;
    const page = await this.#fetchPage(null).catch(() => null);
    if (page === null) return false;
    if (generation !== this.#generation) return true;
    this.#start(page);
    this.#clearNewPosts();
    return true;
  }

  /** Puts the new posts on top. Where a gap to the present posts is possible, the feed restarts. */
  showNewPosts(): void {
    const page = this.#newPostsPage;
    if (page === null) return;
    const isContiguous = this.newPosts.length < page.posts.length;
    const posts = [...this.newPosts, ...this.posts];
    if (prefs.feed === "ranked") this.posts = spread(posts);
    else if (isContiguous) this.posts = posts;
    else this.#start(page);
    this.#clearNewPosts();
    if (prefs.feed === "ranked" && !isContiguous) void this.refresh();
  }

  /** Puts the viewer's own new post on top: now, or once the first page is there. */
  prepend(post: Post): void {
    if (this.status !== "ready") {
      this.#early = post;
      return;
    }
    this.posts = [postStore.put(post), ...this.posts.filter(({ post_id }) => post_id !== post.post_id)];
  }

  /** Switches between ranked and chronological order, and reloads. */
  async setMode(mode: FeedMode): Promise<void> {
    if (mode === prefs.feed) return;
    setPref("feed", mode);
    this.reset();
    await this.load();
  }

  /** Removes posts that were deleted or are no longer visible to the viewer. */
  remove(isRemoved: (post: Post) => boolean): void {
    this.posts = this.posts.filter((post) => !isRemoved(post));
    this.newPosts = this.newPosts.filter((post) => !isRemoved(post));
    this.#cache();
  }

  reset(): void {
    this.#generation += 1;
    this.posts = [];
    this.status = "idle";
    this.moreStatus = "idle";
    this.hasMore = false;
    this.failure = null;
    this.#cursor = null;
    this.#early = null;
    this.#clearNewPosts();
  }

  #fetchPage(cursor: string | null): Promise<PostPage> {
    return api.getFeed(prefs.feed, cursor, FEED_PAGE);
  }

  #start(page: PostPage): void {
    this.posts = postStore.putAll(page.posts);
    this.#setCursor(page);
    this.failure = null;
    this.isCached = false;
    this.status = "ready";
    if (this.#early !== null) this.prepend(this.#early);
    this.#early = null;
    void this.#replaceCached(page);
  }

  #startFromCache(posts: readonly Post[]): void {
    this.posts = postStore.putAll(posts);
    this.hasMore = false;
    this.isCached = true;
    this.status = "ready";
  }

  /** Deletes what an earlier visit cached of posts that are gone, before the new posts take their place. */
  async #replaceCached(page: PostPage): Promise<void> {
    const generation = this.#generation;
    await offline.forgetMissing(CACHE_KEY, isMissingFrom(page, prefs.feed));
    if (generation === this.#generation) this.#cache();
  }

  #cache(): void {
    offline.store(CACHE_KEY, $state.snapshot(this.posts.slice(0, MAX_CACHED)));
  }

  #setCursor(page: PostPage): void {
    this.#cursor = page.next_cursor;
    this.hasMore = page.has_more && page.next_cursor !== null;
  }

  #compare(page: PostPage): void {
    this.#removeMissing(page);
    this.newPosts = newer(postStore.putAll(page.posts), this.posts);
    this.#newPostsPage = this.newPosts.length > 0 ? page : null;
  }

  /** Removes posts that the fresh page should contain and does not. */
  #removeMissing(page: PostPage): void {
    const gone = this.posts.filter(isMissingFrom(page, "following"));
    if (gone.length === 0) return;
    offline.forgetPosts(gone);
    this.remove((post) => gone.includes(post));
  }

  #clearNewPosts(): void {
    this.newPosts = [];
    this.#newPostsPage = null;
  }

  /** Pages may overlap when posts are added between requests: each post is shown once. */
  #withoutKnown(posts: readonly Post[]): Post[] {
    const known = new Set(this.posts.map(({ post_id }) => post_id));
    return postStore.putAll(posts.filter(({ post_id }) => !known.has(post_id)));
  }
}

/** Whether a post should be in the fresh page and is not. The viewer's own may not have been fanned out yet. */
function isMissingFrom({ posts, has_more }: PostPage, mode: FeedMode): (post: Post) => boolean {
  const present = new Set(posts.map(({ post_id }) => post_id));
  const oldest = mode === "following" ? (posts.at(-1)?.created_at ?? "") : null;
  const isCovered = ({ created_at }: Post) => !has_more || (oldest !== null && created_at > oldest);
  const isOwn = ({ author }: Post) => author.account_id === session.account?.account_id;
  return (post) => isCovered(post) && !present.has(post.post_id) && !isOwn(post);
}

/** The posts created after everything shown so far. */
function newer(posts: readonly Post[], shown: readonly Post[]): Post[] {
  const known = new Set(shown.map(({ post_id }) => post_id));
  const newest = shown.reduce((latest, { created_at }) => (created_at > latest ? created_at : latest), "");
  return posts.filter(({ post_id, created_at }) => !known.has(post_id) && created_at >= newest);
}

export const feed = new Feed();
postStore.onRemoved((isGone) => feed.remove(isGone));
onAccountHidden(({ accountId, scope }) => {
  if (scope === "feed") feed.remove(({ author }) => author.account_id === accountId);
});
session.onChange(() => {
  feed.reset();
  postStore.clear();
});
