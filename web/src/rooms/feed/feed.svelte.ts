/**
 * The home feed as this tab holds it. It outlives its page, so that going back finds the same posts in the
 * same place; news waits behind a pill instead of pushing what is being read.
 */
import { whenParted } from "../../base/parting";
import { type FeedMode, prefs, setPref } from "../../base/prefs.svelte";
import { api, type Post, type PostPage } from "../../client";
import { FEED_PAGE } from "../../client/early";
import { isUnreachable, offline } from "../../offline";
import { session } from "../accounts";
import { shelf } from "../posts";

/** How much of the feed is kept for reading without a connection. */
const KEPT = 60;

const KEY = "feed";

export type FeedStatus = "idle" | "loading" | "ready" | "failed";

export class Feed {
  posts = $state.raw<readonly Post[]>([]);
  /** Newer posts that have not been shown yet, newest first. */
  fresh = $state.raw<readonly Post[]>([]);
  status = $state.raw<FeedStatus>("idle");
  moreStatus = $state.raw<"idle" | "loading" | "failed">("idle");
  hasMore = $state.raw(false);
  failure = $state.raw<unknown>(null);
  /** What is shown was kept on this device; the server could not be asked. */
  isKept = $state.raw(false);

  #cursor: string | null = null;
  #freshPage: PostPage | null = null;
  /** Raised by every reset: an answer to a question of an earlier life is dropped. */
  #life = 0;

  /** The first page is on screen, or `failure` says why not. Does nothing when there already is one. */
  async load(): Promise<void> {
    if (this.status === "loading" || this.status === "ready") return;
    this.status = "loading";
    const life = this.#life;
    try {
      const page = await this.#ask(null);
      if (life === this.#life) this.#start(page);
    } catch (error) {
      const kept = isUnreachable(error) ? await offline.find<readonly Post[]>(KEY) : null;
      if (life !== this.#life) return;
      if (kept !== null) return this.#startKept(kept);
      this.failure = error;
      this.status = "failed";
    }
  }

  async loadMore(): Promise<void> {
    if (this.status !== "ready" || !this.hasMore || this.moreStatus === "loading") return;
    this.moreStatus = "loading";
    const life = this.#life;
    try {
      const page = await this.#ask(this.#cursor);
      if (life !== this.#life) return;
      this.posts = [...this.posts, ...this.#unseen(page.posts)];
      this.#turnTo(page);
      this.moreStatus = "idle";
      this.#keep();
    } catch {
      if (life === this.#life) this.moreStatus = "failed"; // The foot of the feed says so and offers another try.
    }
  }

  /** Looks for news without disturbing anybody; a failed look is repeated at the next occasion. */
  async check(): Promise<boolean> {
    if (this.status !== "ready") return false;
    const life = this.#life;
    try {
      const page = await this.#ask(null);
      if (life !== this.#life) return true;
      // The connection is back: what was kept gives way.
      if (this.isKept) this.#start(page);
      else this.#notice(page);
      return true;
    } catch {
      return false;
    }
  }

  /** The first page as it is now, without a skeleton in between; a failed look leaves what is there. */
  async renew(): Promise<void> {
    const life = this.#life;
    const page = await this.#ask(null).catch(() => null);
    if (page === null || life !== this.#life) return;
    this.#start(page);
    this.#forgetFresh();
  }

  /** The waiting posts are at the top. Where they no longer meet what is below, the feed starts anew from them. */
  showFresh(): void {
    const page = this.#freshPage;
    if (page === null) return;
    const doMeet = prefs.feed === "following" && this.fresh.length < page.posts.length;
    if (doMeet) this.posts = [...this.fresh, ...this.posts];
    else this.#start(page);
    this.#forgetFresh();
  }

  /** One's own new post is at the top at once. */
  prepend(post: Post): void {
    if (this.status !== "ready") return;
    this.posts = [shelf.put(post), ...this.posts.filter(({ post_id }) => post_id !== post.post_id)];
  }

  /** Another order: the feed starts anew. */
  async turn(mode: FeedMode): Promise<void> {
    if (mode === prefs.feed) return;
    setPref("feed", mode);
    this.reset();
    await this.load();
  }

  /** Posts that are gone, or that somebody does not want to see. */
  drop(isUnwanted: (post: Post) => boolean): void {
    this.posts = this.posts.filter((post) => !isUnwanted(post));
    this.fresh = this.fresh.filter((post) => !isUnwanted(post));
    this.#keep();
  }

  reset(): void {
    this.#life += 1;
    this.posts = [];
    this.status = "idle";
    this.moreStatus = "idle";
    this.hasMore = false;
    this.failure = null;
    this.#cursor = null;
    this.#forgetFresh();
  }

  #ask(cursor: string | null): Promise<PostPage> {
    return api.getFeed(prefs.feed, cursor, FEED_PAGE);
  }

  #start(page: PostPage): void {
    this.posts = shelf.putAll(page.posts);
    this.#turnTo(page);
    this.failure = null;
    this.isKept = false;
    this.status = "ready";
    this.#keep();
  }

  #startKept(posts: readonly Post[]): void {
    this.#start({ posts: [...posts], next_cursor: null, has_more: false });
    this.isKept = true;
  }

  #keep(): void {
    offline.keep(KEY, $state.snapshot(this.posts.slice(0, KEPT)));
  }

  #turnTo(page: PostPage): void {
    this.#cursor = page.next_cursor;
    this.hasMore = page.has_more && page.next_cursor !== null;
  }

  #notice(page: PostPage): void {
    this.#dropVanished(page);
    this.fresh = newer(shelf.putAll(page.posts), this.posts);
    this.#freshPage = this.fresh.length > 0 ? page : null;
  }

  /** What should stand on the page and does not was deleted, or is out of sight; one's own may not have arrived yet. */
  #dropVanished({ posts, has_more }: PostPage): void {
    const there = new Set(posts.map(({ post_id }) => post_id));
    const oldest = prefs.feed === "following" ? (posts.at(-1)?.created_at ?? "") : null;
    const isCovered = ({ created_at }: Post) => !has_more || (oldest !== null && created_at > oldest);
    const isOwn = ({ author }: Post) => author.user_id === session.account?.account_id;
    const isGone = (post: Post) => isCovered(post) && !there.has(post.post_id) && !isOwn(post);
    if (this.posts.some(isGone)) this.drop(isGone);
  }

  #forgetFresh(): void {
    this.fresh = [];
    this.#freshPage = null;
  }

  /** Pages may overlap when posts arrive between them: each post is shown once. */
  #unseen(posts: readonly Post[]): Post[] {
    const known = new Set(this.posts.map(({ post_id }) => post_id));
    return shelf.putAll(posts.filter(({ post_id }) => !known.has(post_id)));
  }
}

/** Those made after everything already shown; in a ranked feed they may stand anywhere. */
function newer(posts: readonly Post[], shown: readonly Post[]): Post[] {
  const known = new Set(shown.map(({ post_id }) => post_id));
  const newest = shown.reduce((latest, { created_at }) => (created_at > latest ? created_at : latest), "");
  return posts.filter(({ post_id, created_at }) => !known.has(post_id) && created_at >= newest);
}

export const feed = new Feed();
shelf.whenDropped((isGone) => feed.drop(isGone));
whenParted(({ accountId, from }) => {
  if (from === "feed") feed.drop(({ author }) => author.user_id === accountId);
});
session.whenChanged(() => {
  feed.reset();
  shelf.clear();
});
