import { beforeEach, describe, expect, test, vi } from "vitest";
import { Problem } from "../../src/client";
import { uploadResumably } from "../../src/client/tus";
import { live, type Signals } from "../../src/live";
import { PLAIN, Upload } from "../../src/rooms/media";
import { problem, respondWith } from "../client/fakeFetch";
import { sampleMedia } from "./sampleMedia";

vi.mock("../../src/client/tus", () => ({ uploadResumably: vi.fn(), cancelResumable: vi.fn(async () => {}) }));
const sending = vi.mocked(uploadResumably);

const LOOK = { ...PLAIN, look: "ferrous" };
const OFFLINE = new Problem({ status: 0, code: "offline" });

function photo(): File {
  return new File(["x"], "a.jpg", { type: "image/jpeg" });
}

describe("an upload", () => {
  let upload: Upload;

  beforeEach(() => {
    upload = new Upload(photo());
    sending.mockReset().mockResolvedValue(sampleMedia("1"));
  });

  test("sends its file once, however often it is asked to", async () => {
    await Promise.all([upload.send(), upload.send()]);
    await upload.send();

    expect(sending).toHaveBeenCalledOnce();
    expect(upload).toMatchObject({ status: "ready", base: { media_id: "1" } });
  });

  test("shows the conversion as it is told live, and asks for the video when it ends", async () => {
    const fetched = respondWith({ body: { ...sampleMedia("1"), type: "video" } });
    sending.mockResolvedValue({
      ...sampleMedia("1"),
      type: "video",
      state: "processing",
      progress: 0,
    });
    const listeners: ((signal: Signals["media"]) => void)[] = [];
    vi.spyOn(live, "onSignal").mockImplementation((_, handler) => {
      listeners.push(handler as (typeof listeners)[0]);
      return () => {};
    });
    await upload.send();
    const tell = (state: string, progress: number) =>
      listeners.at(-1)?.({ media_id: "1", account_id: "7", state, progress });
    tell("processing", 60);
    expect(upload.base).toMatchObject({ state: "processing", progress: 60 });
    expect(fetched).not.toHaveBeenCalled();

    tell("ready", 100);
    await vi.waitFor(() => expect(upload.base?.state).toBe("ready"));
    expect(fetched).toHaveBeenCalledOnce();
  });

  test("is edited by the server when it is posted, once for the same edit", async () => {
    const fetched = respondWith({ status: 201, body: sampleMedia("2") });
    await upload.send();
    upload.edit = LOOK;

    expect(await upload.prepare()).toBe("2");
    expect(await upload.prepare()).toBe("2");
    expect(fetched).toHaveBeenCalledOnce();
    expect(String(fetched.mock.calls[0]?.[0])).toContain("/media/1/edits");
  });

  test("posts the original when the edit is reset", async () => {
    respondWith({ status: 201, body: sampleMedia("2") });
    await upload.send();
    upload.edit = LOOK;
    await upload.prepare();
    upload.edit = PLAIN;

    expect(await upload.prepare()).toBe("1");
  });

  test("sends its file again, with the edit, when the server has no original", async () => {
    respondWith(problem(404, "media_not_found"));
    await upload.send();
    sending.mockResolvedValue(sampleMedia("3"));
    upload.edit = LOOK;

    expect(await upload.prepare()).toBe("3");
    expect(sending.mock.calls[1]?.[1]).toMatchObject({
      uploadId: null,
      fields: { edit: JSON.stringify(LOOK) },
    });
  });

  test("waits without a connection, and fails only when the server refuses it", async () => {
    sending.mockRejectedValueOnce(OFFLINE);
    await expect(upload.send()).rejects.toBe(OFFLINE);
    expect(upload.status).toBe("waiting");
    sending.mockRejectedValueOnce(new Problem({ status: 422, code: "media_refused" }));
    await upload.send();

    expect(upload).toMatchObject({ status: "failed", failure: { code: "media_refused" } });
  });

  test("is not sent again after a reload when the server has refused it, unless the author asks", async () => {
    sending.mockRejectedValueOnce(new Problem({ status: 422, code: "media_refused" }));
    await upload.send();
    const restored = Upload.restore(structuredClone(upload.saved), photo());
    await restored.send();
    expect(sending).toHaveBeenCalledOnce();
    expect(restored).toMatchObject({ status: "failed", failure: { code: "media_refused" } });
    restored.startAgain();
    await restored.send();
    expect(restored.status).toBe("ready");
  });

  test("continues after a reload where it was interrupted", async () => {
    sending.mockImplementationOnce(async (_, { onBegin }) => {
      onBegin("u7");
      throw OFFLINE;
    });
    await upload.send().catch(() => {});
    upload.altText = "Hills";
    const restored = Upload.restore(structuredClone(upload.saved), photo());
    await restored.send();

    expect(sending.mock.calls[1]?.[1].uploadId).toBe("u7");
    expect(restored).toMatchObject({ status: "ready", altText: "Hills" });
  });

  test("is not sent again after a reload when the server has it", async () => {
    await upload.send();
    respondWith({ body: sampleMedia("1") });
    const restored = Upload.restore(structuredClone(upload.saved), null);
    await restored.send();

    expect(sending).toHaveBeenCalledOnce();
    expect(restored.base?.media_id).toBe("1");
  });

  test("is sent again after a reload when the server has deleted it", async () => {
    await upload.send();
    respondWith(problem(404, "media_not_found"));
    sending.mockResolvedValue(sampleMedia("2"));
    const restored = Upload.restore(structuredClone(upload.saved), photo());
    await restored.send();

    expect(restored.base?.media_id).toBe("2");
  });

  test("says so when neither the server nor the device has the file", async () => {
    await upload.send();
    respondWith(problem(404, "media_not_found"));
    const restored = Upload.restore(structuredClone(upload.saved), null);
    await restored.send();

    expect(restored).toMatchObject({ status: "failed", failure: { code: "draft_file_lost" } });
  });
});
