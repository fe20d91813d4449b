import { beforeEach, describe, expect, test, vi } from "vitest";
import { becomeCalm } from "../../src/base/calm";
import type { Story } from "../../src/client/stories";
import { offline } from "../../src/offline";
import { kept } from "../../src/rooms/stories/kept";
import { tray } from "../../src/rooms/stories/tray.svelte";
import { Viewer } from "../../src/rooms/stories/viewer.svelte";

function sampleStory(id: number, userId: string, seen = false): Story {
  return {
    story_id: String(id),
    user_id: userId,
    media_type: "image",
    media_url: "/media/x/1080.jpg",
    media: {
      media_id: String(id),
      type: "image",
      state: "ready",
      url: "/media/x/1080.jpg",
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

const ring = (userId: string, unseen: number) => ({
  user_id: userId,
  username: `u${userId}`,
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

/** A server with two people's stories; remembers what was marked as seen. */
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
    const person = { user_id: id, username: `u${id}`, full_name: "", profile_pic_url: null };
    const body = id
      ? { ...person, stories: all[id] ?? [] }
      : { story_ring: [ring("1", 1), ring("2", 1)], stories: {}, prefetch: { user_ids: [], media_urls: [] } };
    return new Response(JSON.stringify(body));
  });
  tray.reset();
  await tray.load(true);
  const drop = (storyId: string) => {
    for (const [id, list] of Object.entries(all))
      all[id] = list.filter(({ story_id }) => story_id !== storyId);
  };
  return { seen, drop };
}

describe("stories without a connection", () => {
  const lost = () => vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));

  beforeEach(async () => {
    becomeCalm();
    await (await offline.kit())?.forget();
    await (await offline.kit())?.memory.belongTo("me");
  });

  test("those that were seen can be seen again, and only those", async () => {
    await serve();
    const viewer = new Viewer(() => {});
    await viewer.open("1");
    await vi.waitFor(async () => expect(await kept.find()).toHaveLength(1));
    lost();
    tray.reset();
    await tray.load();
    expect(tray.rings.map(({ username, has_unseen }) => [username, has_unseen])).toEqual([["u1", false]]);

    const again = new Viewer(() => {});
    await again.open("1");
    expect(again.sheaf?.stories.map(({ story_id }) => story_id)).toEqual(["12"]);
  });

  test("are gone with their hour, pictures included", async () => {
    const deleted = vi.fn(async () => true);
    vi.stubGlobal("caches", { open: async () => ({ delete: deleted }), delete: async () => true });
    await serve();
    const viewer = new Viewer(() => {});
    await viewer.open("1");
    await vi.waitFor(async () => expect(await kept.find()).toHaveLength(1));
    lost();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 3_600_000 });
    expect((await tray.sheafOf("1")).stories).toEqual([]);
    tray.reset();
    await tray.load();

    expect(tray.rings).toEqual([]);
    expect(deleted).toHaveBeenCalledWith("/media/x/1080.jpg", { ignoreVary: true });
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test("are not kept of somebody who has left the tray, nor when the server shows them no longer", async () => {
    const { drop } = await serve();
    const viewer = new Viewer(() => {});
    await viewer.open("1");
    viewer.next();
    await vi.waitFor(async () => expect(await kept.find()).toHaveLength(2));
    drop("12");
    await tray.renew();
    await tray.sheafOf("1");
    await vi.waitFor(async () =>
      expect((await kept.find()).map(({ accountId }) => accountId)).toEqual(["2"]),
    );
    tray.drop("2");
    await vi.waitFor(async () => expect(await kept.find()).toEqual([]));
  });
});

describe("going through stories", () => {
  test("begins with what has not been seen, and goes on to the next person until the end", async () => {
    await serve();
    const end = vi.fn();
    const viewer = new Viewer(end);
    await viewer.open("1");
    expect(viewer.story?.story_id).toBe("12");
    viewer.next();
    await vi.waitFor(() => expect(viewer.story?.story_id).toBe("21"));
    expect(end).not.toHaveBeenCalled();
    viewer.next();

    expect(end).toHaveBeenCalledOnce();
  });

  test("tells the server once what was seen, and the tray at once", async () => {
    const { seen } = await serve();
    const viewer = new Viewer(() => {});
    await viewer.open("1");
    viewer.previous();
    viewer.next();

    expect(seen).toEqual(["12"]);
    expect(tray.rings[0]).toMatchObject({ has_unseen: false, unseen_count: 0 });
  });

  test("goes back to the last story of the person before", async () => {
    await serve();
    const viewer = new Viewer(() => {});
    await viewer.open("2");
    viewer.previous();

    await vi.waitFor(() => expect(viewer.story?.story_id).toBe("12"));
  });

  test("does not count time before the picture is there, nor while it is held", async () => {
    vi.useFakeTimers();
    await serve();
    const viewer = new Viewer(() => {});
    await viewer.open("1");
    const stop = viewer.run();
    vi.advanceTimersByTime(3_000);
    expect(viewer.share).toBe(0);
    viewer.isArriving = false;
    vi.advanceTimersByTime(3_000);
    expect(viewer.share).toBeCloseTo(0.5);
    viewer.isHeld = true;
    vi.advanceTimersByTime(3_000);
    expect(viewer.share).toBeCloseTo(0.5);
    stop();
    vi.useRealTimers();
  });

  test("lets go of a story that was deleted", async () => {
    await serve();
    const viewer = new Viewer(() => {});
    await viewer.open("1");
    viewer.drop("12");
    expect(viewer.story?.story_id).toBe("11");
  });
});
