/** The story tray: who has stories, in the server's order; each reel loads on demand, seen counts update optimistically. */
import { onAccountHidden } from "../../base/visibilityEvents";
import { type Highlight, type Ring, type Story, stories } from "../../client/stories";
import { isUnreachable } from "../../offline";
import { session } from "../accounts";
import { storyCache, withoutExpired } from "./storyCache";

/** One person's stories in order. */
export interface StoryReel {
  readonly accountId: string;
  readonly username: string;
  readonly fullName: string;
  readonly picture: string | null;
  readonly stories: readonly Story[];
  /** Set when the reel is a highlight and the viewer owns it. */
  readonly highlight?: Highlight;
}

const MAX_AGE_MS = 60_000;

export class StoryTray {
  rings = $state.raw<readonly Ring[]>([]);
  isLoaded = $state.raw(false);
  readonly #reels = new Map<string, Promise<StoryReel>>();
  #loaded_ms = 0;

  /** Loads the tray unless it is fresher than a minute. Offline it shows the cached reels. */
  async load(force = false): Promise<void> {
    if (!force && Date.now() - this.#loaded_ms < MAX_AGE_MS) return;
    try {
      const page = await stories.getTray();
      this.#loaded_ms = Date.now();
      this.rings = page.story_ring;
      this.#reels.clear();
      for (const ring of page.story_ring) {
        const known = page.stories[ring.account_id];
        if (known) this.#reels.set(ring.account_id, Promise.resolve(this.#sync({ ...ring, stories: known })));
      }
      const present = new Set(page.story_ring.map(({ account_id }) => account_id));
      void storyCache.retain((accountId) => present.has(accountId)).catch(() => {});
    } catch (error) {
      if (isUnreachable(error) && this.rings.length === 0) await this.#showCached();
    } finally {
      this.isLoaded = true;
    }
  }

  /** A person's unexpired stories; loaded once, and again after a failure. */
  async reelOf(accountId: string): Promise<StoryReel> {
    const known = this.#reels.get(accountId);
    if (known !== undefined) return withoutExpired(await known);
    const loading = this.#load(accountId);
    this.#reels.set(accountId, loading);
    loading.catch(() => this.#reels.delete(accountId));
    return loading;
  }

  /** Decrements the unseen count of a person. */
  markSeen(accountId: string): void {
    this.rings = this.rings.map((ring) => {
      if (ring.account_id !== accountId || ring.unseen_count === 0) return ring;
      const unseen_count = ring.unseen_count - 1;
      return { ...ring, unseen_count, has_unseen: unseen_count > 0 };
    });
  }

  drop(accountId: string): void {
    this.rings = this.rings.filter(({ account_id }) => account_id !== accountId);
    this.#reels.delete(accountId);
    void storyCache.retain((each) => each !== accountId).catch(() => {});
  }

  /** Reloads everything, after the viewer's own stories changed. */
  async refresh(): Promise<void> {
    this.#reels.clear();
    await this.load(true);
  }

  reset(): void {
    this.rings = [];
    this.isLoaded = false;
    this.#loaded_ms = 0;
    this.#reels.clear();
  }

  async #load(accountId: string): Promise<StoryReel> {
    try {
      return this.#sync(await stories.getByAccount(accountId));
    } catch (error) {
      const seen = isUnreachable(error) ? await storyCache.getAll() : [];
      const reel = seen.find((each) => each.accountId === accountId);
      if (reel === undefined) throw error;
      return reel;
    }
  }

  /** Converts a response to a reel, and updates the offline cache with it. */
  #sync(loaded: Loaded): StoryReel {
    const reel = reelOf(loaded);
    void storyCache.sync(reel).catch(() => {});
    return reel;
  }

  async #showCached(): Promise<void> {
    const reels = (await storyCache.getAll().catch(() => [])).toReversed();
    this.rings = reels.map(ringOf);
    for (const reel of reels) this.#reels.set(reel.accountId, Promise.resolve(reel));
  }
}

interface Loaded {
  readonly account_id: string;
  readonly username: string;
  readonly full_name: string;
  readonly profile_pic_url: string | null;
  readonly stories: readonly Story[];
}

function reelOf(loaded: Loaded): StoryReel {
  return withoutExpired({
    accountId: loaded.account_id,
    username: loaded.username,
    fullName: loaded.full_name,
    picture: loaded.profile_pic_url,
    stories: loaded.stories,
  });
}

/** The tray item of a cached reel. */
function ringOf({ accountId, username, fullName, picture, stories: seen }: StoryReel): Ring {
  return {
    account_id: accountId,
    username,
    full_name: fullName,
    profile_pic_url: picture,
    is_verified: false,
    is_self: seen.some(({ viewer_is_author }) => viewer_is_author),
    has_unseen: false,
    is_close_friends: seen.some(({ audience }) => audience === "close_friends"),
    latest_story_ts: seen.at(-1)?.created_at ?? "",
    story_count: seen.length,
    unseen_count: 0,
  };
}

export const tray = new StoryTray();
session.onChange(() => tray.reset());
onAccountHidden(({ accountId, scope }) => {
  if (scope === "everything" || scope === "stories") tray.drop(accountId);
});
