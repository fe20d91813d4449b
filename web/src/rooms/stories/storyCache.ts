/**
 * Viewed stories, cached for offline until they expire; then their images are deleted from this device as well. Stories that
 * the server no longer shows, or of people who are hidden now, are removed at the next load.
 */
import type { Story } from "../../client/stories";
import { offline } from "../../offline";
import type { StoryReel } from "./tray.svelte";

const CACHE_KEY = "stories";

/** The image URL of a story. */
export function imageUrl({ media }: Story): string {
  return media.urls["1080"] ?? media.url;
}

export function isLive({ expires_at }: Story): boolean {
  return Date.parse(expires_at) > Date.now();
}

/** The reel without expired stories. */
export function withoutExpired(reel: StoryReel): StoryReel {
  return reel.stories.every(isLive) ? reel : { ...reel, stories: reel.stories.filter(isLive) };
}

export class StoryCache {
  /** Serialises changes: each reads what the one before wrote. */
  #last: Promise<unknown> = Promise.resolve();

  /** The cached reels without expired stories, in the order in which they were viewed. */
  async getAll(): Promise<readonly StoryReel[]> {
    await this.#change((reels) => reels);
    return (await offline.read<readonly StoryReel[]>(CACHE_KEY)) ?? [];
  }

  /** Adds a viewed story; a video is cached as its still image. */
  add(reel: StoryReel, story: Story): Promise<void> {
    const still: Story = { ...story, seen: true, media: { ...story.media, video_url: null, hls_url: null } };
    return this.#change((reels) => {
      const before = reels.find(({ accountId }) => accountId === reel.accountId)?.stories ?? [];
      const others = before.filter(({ story_id }) => story_id !== story.story_id);
      const stories = [...others, still].sort((a, b) => a.created_at.localeCompare(b.created_at));
      const rest = reels.filter(({ accountId }) => accountId !== reel.accountId);
      return [...rest, { ...reel, stories }];
    });
  }

  /** Removes stories that the server no longer shows. */
  sync(reel: StoryReel): Promise<void> {
    const shown = new Set(reel.stories.map(({ story_id }) => story_id));
    return this.#change((reels) =>
      reels.map((cached) =>
        cached.accountId === reel.accountId
          ? { ...cached, stories: cached.stories.filter(({ story_id }) => shown.has(story_id)) }
          : cached,
      ),
    );
  }

  /** Removes the reels of all other people. */
  retain(isRetained: (accountId: string) => boolean): Promise<void> {
    return this.#change((reels) => reels.filter(({ accountId }) => isRetained(accountId)));
  }

  #change(decide: (reels: readonly StoryReel[]) => readonly StoryReel[]): Promise<void> {
    const work = this.#last.then(async () => {
      const before = (await offline.read<readonly StoryReel[]>(CACHE_KEY)) ?? [];
      const after = decide(before)
        .map(withoutExpired)
        .filter(({ stories }) => stories.length > 0);
      const remaining = new Set(after.flatMap(({ stories }) => stories).map(imageUrl));
      const gone = before.flatMap(({ stories }) => stories).map(imageUrl);
      offline.evictImages(gone.filter((url) => !remaining.has(url)));
      if (before.length + after.length > 0) await offline.store(CACHE_KEY, after);
    });
    this.#last = work.catch(() => {}); // Best effort: a failed write only costs an offline story.
    return work;
  }
}

export const storyCache = new StoryCache();
