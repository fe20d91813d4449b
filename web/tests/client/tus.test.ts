import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { uploadResumably } from "../../src/client/tus";
import { sampleMedia } from "../rooms/sampleMedia";
import { respondWith } from "./fakeFetch";

interface Exchange {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: Blob | null;
}

/** The answer to one request: a status with headers, or a lost connection after so many bytes. */
type Answer = { status: number; headers?: Record<string, string>; body?: unknown } | "lost";

let exchanges: Exchange[] = [];
let answers: Answer[] = [];

class FakeRequest {
  status = 0;
  responseText = "";
  readonly upload: { onprogress?: (event: { loaded: number }) => void } = {};
  onload = () => {};
  onerror = () => {};
  onabort = () => {};
  onloadend = () => {};
  readonly #headers: Record<string, string> = {};
  #response: Record<string, string> = {};
  #method = "";

  open(method: string): void {
    this.#method = method;
  }
  setRequestHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }
  getResponseHeader(name: string): string | null {
    return this.#response[name] ?? null;
  }
  abort(): void {
    this.onabort();
  }
  send(body: Blob | null): void {
    exchanges.push({ method: this.#method, headers: this.#headers, body });
    const answer = answers.shift();
    queueMicrotask(() => {
      this.onloadend();
      if (answer === undefined || answer === "lost") return this.onerror();
      this.status = answer.status;
      this.#response = answer.headers ?? {};
      this.responseText = JSON.stringify(answer.body ?? {});
      this.onload();
    });
  }
}

function start(uploadId: string | null, fields = {}) {
  const began: string[] = [];
  const shares: number[] = [];
  const done = uploadResumably(new File(["0123456789"], "a.jpg"), {
    uploadId,
    onBegin: (id) => began.push(id),
    onProgress: (share) => shares.push(share),
    signal: new AbortController().signal,
    fields,
  });
  return { done, began, shares };
}

const offset = (at: number) => ({ "Upload-Offset": String(at) });
const created = { status: 201, headers: { Location: "/api/v1/media/tus/u1" } };

describe("a resumable upload", () => {
  beforeEach(() => {
    vi.stubGlobal("XMLHttpRequest", FakeRequest);
    respondWith({ body: sampleMedia("u1") });
    exchanges = [];
    answers = [];
  });
  afterEach(() => vi.unstubAllGlobals());

  test("begins, names itself before any byte is sent, and sends the file", async () => {
    answers = [created, { status: 204, headers: offset(10) }];
    const { done, began, shares } = start(null, { kind: "story" });

    expect((await done).media_id).toBe("u1");
    expect(began).toEqual(["u1"]);
    expect(exchanges.map(({ method }) => method)).toEqual(["POST", "PATCH"]);
    expect(exchanges[0]?.headers).toMatchObject({
      "Upload-Length": "10",
      "Upload-Metadata": `kind ${btoa("story")}`,
    });
    expect(shares.at(-1)).toBe(1);
  });

  test("sends only the missing bytes after a lost connection", async () => {
    answers = [
      { status: 200, headers: offset(4) },
      { status: 204, headers: offset(10) },
    ];
    const { done, began } = start("u1");
    await done;

    expect(began).toEqual([]);
    expect(exchanges[1]?.headers).toMatchObject({ "Upload-Offset": "4" });
    expect(await exchanges[1]?.body?.text()).toBe("456789");
  });

  test("sends nothing when the server has all bytes and only its answer was lost", async () => {
    answers = [{ status: 200, headers: offset(10) }];
    expect((await start("u1").done).media_id).toBe("u1");
    expect(exchanges).toHaveLength(1);
  });

  test("begins again when the server no longer knows the upload", async () => {
    answers = [
      { status: 404, body: { code: "upload_not_found" } },
      created,
      { status: 204, headers: offset(10) },
    ];
    const { done, began } = start("old");
    await done;
    expect(began).toEqual(["u1"]);
  });

  test("goes on from where the lost connection left the offset", async () => {
    answers = [
      { status: 200, headers: offset(0) },
      { status: 409, body: { code: "upload_offset_wrong" } },
      { status: 200, headers: offset(6) },
      { status: 204, headers: offset(10) },
    ];
    await start("u1").done;
    expect(await exchanges[3]?.body?.text()).toBe("6789");
  });

  test("rejects with the server's reason, or as offline", async () => {
    answers = [created, { status: 422, body: { code: "media_refused", detail: "Not a picture." } }];
    await expect(start(null).done).rejects.toMatchObject({ code: "media_refused" });
    answers = ["lost"];
    await expect(start(null).done).rejects.toMatchObject({ status: 0, code: "offline" });
  });
});
