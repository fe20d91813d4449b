import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { api, Problem, type UploadedMedia } from "../../src/client";
import { PLAIN, Upload } from "../../src/rooms/media";
import { answer, problem } from "../client/answers";

const LOOK = { ...PLAIN, look: "ferrous" };

function media(id: string): UploadedMedia {
  return {
    media_id: id,
    type: "image",
    state: "ready",
    progress: 100,
    error: null,
    urls: {},
    squares: {},
    video_url: null,
    hls_url: null,
    duration_ms: null,
    width: 1,
    height: 1,
    placeholder: null,
    expires_at: null,
  };
}

describe("an upload", () => {
  let upload: Upload;
  let sending: MockInstance<typeof api.uploadMedia>;

  beforeEach(() => {
    upload = new Upload(new File(["x"], "a.jpg", { type: "image/jpeg" }));
    sending = vi.spyOn(api, "uploadMedia").mockResolvedValue(media("1"));
  });
  afterEach(() => vi.unstubAllGlobals());

  test("sends its file once; the edit is made of what the server keeps", async () => {
    const fetched = answer({ status: 201, body: media("2") });
    await upload.send();
    await upload.change(LOOK);

    expect(sending).toHaveBeenCalledOnce();
    expect(String(fetched.mock.calls[0]?.[0])).toContain("/media/1/edits");
    expect(upload).toMatchObject({ status: "ready", media: { media_id: "2" } });
  });

  test("sends its file again where the server keeps none", async () => {
    answer(problem(404, "media_not_found"));
    await upload.send();
    sending.mockResolvedValue(media("3"));
    await upload.change(LOOK);

    expect(sending.mock.calls[1]?.[1]?.fields).toEqual({ edit: JSON.stringify(LOOK) });
    expect(upload.media?.media_id).toBe("3");
  });

  test("edited while it is on its way is edited when it arrives", async () => {
    answer({ status: 201, body: media("2") });
    const sent = upload.send();
    await upload.change(LOOK);
    await sent;

    expect(upload.media?.media_id).toBe("2");
  });

  test("goes back to what was sent when every edit is taken back", async () => {
    answer({ status: 201, body: media("2") }, { status: 204 });
    await upload.send();
    await upload.change(LOOK);
    await upload.change(PLAIN);

    expect(upload.media?.media_id).toBe("1");
  });

  test("keeps an edit that failed, and repeats only that", async () => {
    answer(problem(503, "unavailable"), { status: 201, body: media("2") });
    await upload.send();
    await upload.change(LOOK);
    expect(upload.status).toBe("failed");
    expect(upload.failure).toBeInstanceOf(Problem);
    await upload.send();

    expect(sending).toHaveBeenCalledOnce();
    expect(upload).toMatchObject({ status: "ready", media: { media_id: "2" } });
  });

  test("comes back after a reload with everything that was said of it", async () => {
    answer({ status: 201, body: media("2") });
    await upload.send();
    await upload.change(LOOK);
    upload.altText = "Hills";
    const saved = upload.saved;
    answer({ body: media("1") }, { body: media("2") });
    const restored = saved && (await Upload.restore(JSON.parse(JSON.stringify(saved))));

    expect(restored).toMatchObject({
      status: "ready",
      altText: "Hills",
      edit: LOOK,
      media: { media_id: "2" },
    });
  });
});
