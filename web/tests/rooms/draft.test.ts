import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { api, Problem } from "../../src/client";
import { Draft, MAX_CAPTION_LENGTH } from "../../src/rooms/posts/create/draft.svelte";
import { sampleMedia } from "./sampleMedia";
import { samplePost } from "./samplePosts";

const media = sampleMedia("m1");

function photos(count: number): File[] {
  return Array.from({ length: count }, (_, n) => new File(["x"], `${n}.jpg`, { type: "image/jpeg" }));
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

describe("a draft", () => {
  let draft: Draft;
  let uploading: MockInstance<typeof api.uploadMedia>;
  let publishing: MockInstance<typeof api.publish>;

  beforeEach(() => {
    draft = new Draft();
    uploading = vi.spyOn(api, "uploadMedia").mockResolvedValue(media);
    publishing = vi.spyOn(api, "publish").mockResolvedValue(samplePost(1));
  });
  afterEach(() => draft.discard());

  test("uploads two files at a time", async () => {
    let running = 0;
    let most = 0;
    uploading.mockImplementation(async () => {
      most = Math.max(most, ++running);
      await settled();
      running -= 1;
      return media;
    });
    draft.add(photos(5));
    await vi.waitFor(() => expect(draft.mayPublish).toBe(true));

    expect(uploading).toHaveBeenCalledTimes(5);
    expect(most).toBe(2);
  });

  test("accepts ten photos and videos, and nothing else", () => {
    expect(draft.add([new File(["x"], "a.txt", { type: "text/plain" })])).toBe("notMedia");
    expect(draft.add([new File(["x"], "IMG_1.HEIC")])).toBeNull();
    expect(draft.add(photos(12))).toBe("tooMany");
    expect(draft.uploads).toHaveLength(10);
  });

  test("cannot be published while something is missing", async () => {
    expect(draft.mayPublish).toBe(false);
    draft.add(photos(1));
    expect(draft.mayPublish).toBe(false);
    await settled();
    expect(draft.mayPublish).toBe(true);
    draft.caption = "😀".repeat(MAX_CAPTION_LENGTH + 1);
    expect(draft.captionLeft).toBe(-1);
    expect(draft.mayPublish).toBe(false);
  });

  test("publishes once, with its alt texts, and is then empty", async () => {
    draft.add(photos(1));
    await settled();
    draft.caption = " Hills ";
    for (const upload of draft.uploads) upload.altText = "Hills in haze ";
    await Promise.all([draft.publish(), draft.publish()]);

    expect(publishing).toHaveBeenCalledOnce();
    expect(publishing.mock.calls[0]?.[0]).toEqual({
      media_ids: ["m1"],
      caption: "Hills",
      alt_texts: ["Hills in haze"],
      tagged: [],
      place: null,
      comments_enabled: true,
      hides_like_count: false,
    });
    expect(draft.uploads).toHaveLength(0);
  });

  test("retries a failed publish with the same idempotency key, and uses a new one for the next post", async () => {
    publishing.mockRejectedValueOnce(new Problem({ status: 0, code: "offline" }));
    draft.add(photos(1));
    await settled();
    expect(await draft.publish()).toBeNull();
    expect(draft.failure).toBeInstanceOf(Problem);
    await draft.publish();
    draft.add(photos(1));
    await settled();
    await draft.publish();

    const keys = publishing.mock.calls.map(([, key]) => key);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  test("keeps a failed upload, and retries it on request", async () => {
    uploading.mockRejectedValueOnce(new Problem({ status: 0, code: "offline" }));
    draft.add(photos(1));
    await settled();
    const [upload] = draft.uploads;
    expect(upload?.status).toBe("failed");
    if (upload) draft.retry(upload);
    await settled();
    expect(draft.mayPublish).toBe(true);
  });
});
