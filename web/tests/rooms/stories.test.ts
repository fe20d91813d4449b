import { beforeEach, describe, expect, test, vi } from "vitest";
import { markFirstPaint } from "../../src/base/afterFirstPaint";
import { imageCacheName, setImageOwner } from "../../src/base/imageCache";
import type { Story } from "../../src/client/stories";
import { offline } from "../../src/offline";
import { StoryPlayback } from "../../src/rooms/stories/playback.svelte";
import { storyCache } from "../../src/rooms/stories/storyCache";
import { tray } from "../../src/rooms/stories/tray.svelte";
import { FakeCaches } from "../worker/fakeCaches";

function sampleStory(id: number, accountId: string, seen = false): Story {
  return {
    story_id: String(id),
    account_id: accountId,
    media_type: "image",
    media_url: "/media/x/1080.jpg",
    media: {
      media_id: String(id),
      type: "image",
      state: "ready",
      url: "/media/x/1080.jpg",
      download_url: null,
      urls: { "1080": "/media/x/1080.jpg" },
      squares: {},
      video_url: null,
      hls_url: null,
      width: 1080,
      height: 1920,
      duration_ms: null,
      alt_text: "",
      placeholder: null,
      tagged: [],
    },
    text: "",
    audience: "everyone",
    mentions: [],
    elements: [],
    created_at: "2026-03-10T12:00:00Z",
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    ttl_remaining: 3600,
    seen,
    reply_enabled: true,
    viewer_reaction: null,
    viewer_is_author: false,
    is_hidden: false,
    view_count: null,
    reaction_count: null,
  };
}

const ring = (accountId: string, unseen: number) => ({
  account_id: accountId,
  username: `u${accountId}`,
  full_name: "",
  profile_pic_url: null,
  is_verified: false,
  is_self: false,
  has_unseen: unseen > 0,
  is_close_friends: false,
  latest_story_ts: "2026-03-10T12:00:00Z",
  story_count: 2,
  unseen_count: unseen,
});

/** A server with two people's stories; records what was marked as seen. */
async function serve() {
  const seen: string[] = [];
  const all: Record<string, Story[]> = {
    "1": [sampleStory(11, "1", true), sampleStory(12, "1")],
    "2": [sampleStory(21, "2")],
  };
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    if (path.endsWith("/stories/seen")) seen.push(...JSON.parse(String(init.body)).story_ids);
    if (init.method !== "GET") return new Response(null, { status: 204 });
    const id = /accounts\/(\d+)/.exec(path)?.[1];
    const person = { account_id: id, username: `u${id}`, full_name: "", profile_pic_url: null };
    const body = id
      ? { ...person, stories: all[id] ?? [] }
      : {
          story_ring: [ring("1", 1), ring("2", 1)],
          stories: {},
          prefetch: { account_ids: [], media_urls: [] },
        };
    return new Response(JSON.stringify(body));
  });
  tray.reset();
  await tray.load(true);
  const remove = (storyId: string) => {
    for (const [id, list] of Object.entries(all))
      all[id] = list.filter(({ story_id }) => story_id !== storyId);
  };
  return { seen, remove };
}

describe("stories offline", () => {
  const goOffline = () => vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));

  beforeEach(async () => {
    markFirstPaint();
    await (await offline.runtime())?.clear();
    await (await offline.runtime())?.cache.setOwner("me");
  });

  test("viewed ones can be played again, and only those", async () => {
    await serve();
    const playback = new StoryPlayback(() => {});
    await playback.open("1");
    await vi.waitFor(async () => expect(await storyCache.getAll()).toHaveLength(1));
    goOffline();
    tray.reset();
    await tray.load();
    expect(tray.rings.map(({ username, has_unseen }) => [username, has_unseen])).toEqual([["u1", false]]);

    const again = new StoryPlayback(() => {});
    await again.open("1");
    expect(again.reel?.stories.map(({ story_id }) => story_id)).toEqual(["12"]);
  });

  test("are deleted when they expire, images included", async () => {
    const stored = new FakeCaches();
    vi.stubGlobal("caches", stored);
    await setImageOwner("me");
    const images = await stored.open(imageCacheName("me"));
    for (const path of ["/media/x/640.jpg", "/media/x/1080.jpg", "/media/y/1080.jpg"])
      await images.put(path, new Response("image"));
    await serve();
    const playback = new StoryPlayback(() => {});
    await playback.open("1");
    await vi.waitFor(async () => expect(await storyCache.getAll()).toHaveLength(1));
    goOffline();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 3_600_000 });
    expect((await tray.reelOf("1")).stories).toEqual([]);
    tray.reset();
    await tray.load();

    expect(tray.rings).toEqual([]);
    await vi.waitFor(() => expect([...images.entries.keys()]).toEqual(["/media/y/1080.jpg"]));
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test("are not storyCache of somebody who has left the tray, nor when the server shows them no longer", async () => {
    const { remove } = await serve();
    const playback = new StoryPlayback(() => {});
    await playback.open("1");
    playback.next();
    await vi.waitFor(async () => expect(await storyCache.getAll()).toHaveLength(2));
    remove("12");
    await tray.refresh();
    await tray.reelOf("1");
    await vi.waitFor(async () =>
      expect((await storyCache.getAll()).map(({ accountId }) => accountId)).toEqual(["2"]),
    );
    tray.drop("2");
    await vi.waitFor(async () => expect(await storyCache.getAll()).toEqual([]));
  });
});

describe("story playback", () => {
  test("starts with the first unseen story, and continues with the next person until the end", async () => {
    await serve();
    const end = vi.fn();
    const playback = new StoryPlayback(end);
    await playback.open("1");
    expect(playback.story?.story_id).toBe("12");
    playback.next();
    await vi.waitFor(() => expect(playback.story?.story_id).toBe("21"));
    expect(end).not.toHaveBeenCalled();
    playback.next();

    expect(end).toHaveBeenCalledOnce();
  });

  test("reports a story as seen once, and updates the tray at once", async () => {
    const { seen } = await serve();
    const playback = new StoryPlayback(() => {});
    await playback.open("1");
    playback.previous();
    playback.next();

    expect(seen).toEqual(["12"]);
    expect(tray.rings[0]).toMatchObject({ has_unseen: false, unseen_count: 0 });
  });

  test("goes back to the last story of the previous person", async () => {
    await serve();
    const playback = new StoryPlayback(() => {});
    await playback.open("2");
    playback.previous();

    await vi.waitFor(() => expect(playback.story?.story_id).toBe("12"));
  });

  test("does not advance while the image is loading or the story is held", async () => {
    vi.useFakeTimers();
    await serve();
    const playback = new StoryPlayback(() => {});
    await playback.open("1");
    const stop = playback.run();
    vi.advanceTimersByTime(3_000);
    expect(playback.share).toBe(0);
    playback.isLoading = false;
    vi.advanceTimersByTime(3_000);
    expect(playback.share).toBeCloseTo(0.5);
    playback.isHeld = true;
    vi.advanceTimersByTime(3_000);
    expect(playback.share).toBeCloseTo(0.5);
    stop();
    vi.useRealTimers();
  });

  test("skips a deleted story", async () => {
    await serve();
    const playback = new StoryPlayback(() => {});
    await playback.open("1");
    playback.remove("12");
    expect(playback.story?.story_id).toBe("11");
  });
});
