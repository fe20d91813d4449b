import { describe, expect, test, vi } from "vitest";
import type { Story } from "../../src/client/stories";
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
  return { seen };
}

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
