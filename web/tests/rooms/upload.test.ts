import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { api, Problem } from "../../src/client";
import { PLAIN, Upload } from "../../src/rooms/media";
import { problem, respondWith } from "../client/fakeFetch";
import { sampleMedia } from "./sampleMedia";

const LOOK = { ...PLAIN, look: "ferrous" };

describe("an upload", () => {
  let upload: Upload;
  let sending: MockInstance<typeof api.uploadMedia>;

  beforeEach(() => {
    upload = new Upload(new File(["x"], "a.jpg", { type: "image/jpeg" }));
    sending = vi.spyOn(api, "uploadMedia").mockResolvedValue(sampleMedia("1"));
  });
  afterEach(() => vi.unstubAllGlobals());

  test("sends its file once; the server edits the original it keeps", async () => {
    const fetched = respondWith({ status: 201, body: sampleMedia("2") });
    await upload.send();
    await upload.change(LOOK);

    expect(sending).toHaveBeenCalledOnce();
    expect(String(fetched.mock.calls[0]?.[0])).toContain("/media/1/edits");
    expect(upload).toMatchObject({ status: "ready", media: { media_id: "2" } });
  });

  test("sends its file again when the server has no original", async () => {
    respondWith(problem(404, "media_not_found"));
    await upload.send();
    sending.mockResolvedValue(sampleMedia("3"));
    await upload.change(LOOK);

    expect(sending.mock.calls[1]?.[1]?.fields).toEqual({ edit: JSON.stringify(LOOK) });
    expect(upload.media?.media_id).toBe("3");
  });

  test("edited while uploading is edited afterwards", async () => {
    respondWith({ status: 201, body: sampleMedia("2") });
    const sent = upload.send();
    await upload.change(LOOK);
    await sent;

    expect(upload.media?.media_id).toBe("2");
  });

  test("uses the original when the edit is reset", async () => {
    respondWith({ status: 201, body: sampleMedia("2") }, { status: 204 });
    await upload.send();
    await upload.change(LOOK);
    await upload.change(PLAIN);

    expect(upload.media?.media_id).toBe("1");
  });

  test("keeps a failed edit, and retries only that", async () => {
    respondWith(problem(503, "unavailable"), { status: 201, body: sampleMedia("2") });
    await upload.send();
    await upload.change(LOOK);
    expect(upload.status).toBe("failed");
    expect(upload.failure).toBeInstanceOf(Problem);
    await upload.send();

    expect(sending).toHaveBeenCalledOnce();
    expect(upload).toMatchObject({ status: "ready", media: { media_id: "2" } });
  });

  test("is restored after a reload with its edit and alt text", async () => {
    respondWith({ status: 201, body: sampleMedia("2") });
    await upload.send();
    await upload.change(LOOK);
    upload.altText = "Hills";
    const saved = upload.saved;
    respondWith({ body: sampleMedia("1") }, { body: sampleMedia("2") });
    const restored = saved && (await Upload.restore(JSON.parse(JSON.stringify(saved))));

    expect(restored).toMatchObject({
      status: "ready",
      altText: "Hills",
      edit: LOOK,
      media: { media_id: "2" },
    });
  });
});
