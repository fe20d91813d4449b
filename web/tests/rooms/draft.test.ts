import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { retryNow } from "../../src/base/backoff";
import { api, Problem } from "../../src/client";
import { uploadResumably } from "../../src/client/tus";
import { draftFiles } from "../../src/offline/draftStore";
import { Draft, MAX_CAPTION_LENGTH } from "../../src/rooms/posts/create/draft.svelte";
import { sampleMedia } from "./sampleMedia";
import { samplePost } from "./samplePosts";

vi.mock("../../src/client/tus", () => ({ uploadResumably: vi.fn(), cancelResumable: vi.fn(async () => {}) }));
const uploading = vi.mocked(uploadResumably);

const OFFLINE = new Problem({ status: 0, code: "offline" });
const REFUSED = new Problem({ status: 422, code: "media_refused" });

function photos(count: number): File[] {
  return Array.from({ length: count }, (_, n) => new File(["x"], `${n}.jpg`, { type: "image/jpeg" }));
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

const save = async () => {};

describe("a draft", () => {
  let draft: Draft;
  let publishing: MockInstance<typeof api.publish>;

  beforeEach(() => {
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(null, { status: 204 })));
    draft = new Draft("7");
    let next = 0;
    uploading.mockReset().mockImplementation(async () => sampleMedia(`m${++next}`));
    publishing = vi.spyOn(api, "publish").mockResolvedValue(samplePost(1));
  });
  afterEach(() => draft.discard());

  test("uploads two files at a time", async () => {
    let [running, most] = [0, 0];
    uploading.mockImplementation(async () => {
      most = Math.max(most, ++running);
      await settled();
      running -= 1;
      return sampleMedia("m1");
    });
    draft.add(photos(5));
    await vi.waitFor(() => expect(draft.share).toBe(1));

    expect(uploading).toHaveBeenCalledTimes(5);
    expect(most).toBe(2);
  });

  test("accepts ten photos and videos, and nothing else", () => {
    expect(draft.add([new File(["x"], "a.txt", { type: "text/plain" })])).toBe("notMedia");
    expect(draft.add([new File(["x"], "IMG_1.HEIC")])).toBeNull();
    expect(draft.add(photos(12))).toBe("tooMany");
    expect(draft.uploads).toHaveLength(10);
  });

  test("says why it cannot be published", () => {
    expect(draft.obstacle).toBe("empty");
    draft.add(photos(1));
    expect(draft.obstacle).toBeNull();
    draft.caption = "😀".repeat(MAX_CAPTION_LENGTH + 1);
    expect(draft.captionLeft).toBe(-1);
    expect(draft.obstacle).toBe("captionTooLong");
    expect(draft.submit()).toBe(false);
  });

  test("is submitted once", () => {
    draft.add(photos(1));
    expect([draft.submit(), draft.submit()]).toEqual([true, false]);
  });

  test("publishes with its alt texts once its files are there", async () => {
    draft.add(photos(2));
    draft.caption = " Hills ";
    for (const upload of draft.uploads) upload.altText = "Hills in haze ";
    draft.submit();
    await draft.publish(save);

    expect(publishing.mock.calls[0]?.[0]).toEqual({
      media_ids: ["m1", "m2"],
      caption: "Hills",
      alt_texts: ["Hills in haze", "Hills in haze"],
      tagged: [],
      place: null,
      comments_enabled: true,
      hides_like_count: false,
    });
    expect(publishing.mock.calls[0]?.[1]).toBe(draft.key);
  });

  test("sends the very same again after a lost answer, also after a reload", async () => {
    publishing.mockRejectedValueOnce(OFFLINE);
    draft.add(photos(1));
    draft.submit();
    await expect(draft.publish(save)).rejects.toBe(OFFLINE);
    const restored = await Draft.restore(structuredClone(draft.saved));
    await restored.publish(save);

    expect(publishing.mock.calls[1]).toEqual(publishing.mock.calls[0]);
    restored.discard();
  });

  test("saves what it sends before it sends it", async () => {
    draft.add(photos(1));
    draft.submit();
    let saved: unknown;
    await draft.publish(async () => {
      saved = draft.saved.request;
      expect(publishing).not.toHaveBeenCalled();
    });
    expect(saved).toEqual(publishing.mock.calls[0]?.[0]);
  });

  test("sends a file again by itself when the connection is back", async () => {
    uploading.mockRejectedValueOnce(OFFLINE);
    draft.add(photos(1));
    await vi.waitFor(() => expect(uploading).toHaveBeenCalledOnce());
    await settled();
    expect(draft.uploads[0]?.status).toBe("waiting");
    retryNow();
    await vi.waitFor(() => expect(draft.uploads[0]?.status).toBe("ready"));
  });

  test("leaves out what the server refused before it was submitted", async () => {
    uploading.mockRejectedValueOnce(REFUSED);
    draft.add(photos(3));
    await vi.waitFor(() => expect(draft.failed).toHaveLength(1));
    expect(draft.obstacle).toBeNull();
    draft.submit();
    await draft.publish(save);

    expect(publishing.mock.calls[0]?.[0].media_ids).toHaveLength(2);
  });

  test("is not published without a file that was refused afterwards", async () => {
    uploading.mockRejectedValueOnce(REFUSED);
    draft.add(photos(2));
    draft.submit();

    expect(await draft.publish(save)).toBeNull();
    expect(draft.failed.map(({ name }) => name)).toEqual(["0.jpg"]);
    expect(publishing).not.toHaveBeenCalled();
  });

  test("keeps the selection while it is reordered, and selects a neighbour of what is removed", () => {
    draft.add(photos(3));
    const [first, second] = draft.uploads;
    if (!first || !second) throw new Error("three uploads");
    draft.select(first);
    draft.move(first, 2);
    expect(draft.uploads.map(({ name }) => name)).toEqual(["1.jpg", "2.jpg", "0.jpg"]);
    expect(draft.selected).toBe(first);
    draft.remove(first);
    expect(draft.selected?.name).toBe("2.jpg");
  });

  test("keeps its files on this device until they are removed", async () => {
    draft.add(photos(1));
    const [upload] = draft.uploads;
    await settled();
    expect((await draftFiles.get(upload?.id ?? ""))?.file.name).toBe("0.jpg");
    if (upload) draft.remove(upload);
    await settled();
    expect(await draftFiles.get(upload?.id ?? "")).toBeNull();
  });
});
