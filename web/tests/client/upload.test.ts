import { expect, test, vi } from "vitest";
import { upload } from "../../src/client/upload";

/** A fake XMLHttpRequest, driven by the test. */
class FakeRequest {
  static last: FakeRequest;
  status = 0;
  responseText = "";
  readonly headers: Record<string, string> = {};
  readonly upload: {
    onprogress?: (event: { lengthComputable: boolean; loaded: number; total: number }) => void;
  } = {};
  onload = () => {};
  onerror = () => {};
  onabort = () => {};
  body: FormData | null = null;

  constructor() {
    FakeRequest.last = this;
  }
  open(readonly_method: string, url: string): void {
    this.headers["request-line"] = `${readonly_method} ${url}`;
  }
  setRequestHeader(name: string, value: string): void {
    this.headers[name] = value;
  }
  send(body: FormData): void {
    this.body = body;
  }
  abort(): void {
    this.onabort();
  }
  answer(status: number, body: unknown): void {
    this.status = status;
    this.responseText = JSON.stringify(body);
    this.onload();
  }
}

function start(options = {}) {
  vi.stubGlobal("XMLHttpRequest", FakeRequest);
  const done = upload<{ media_id: string }>(
    "/media/upload",
    new File(["x"], "a.jpg", { type: "image/jpeg" }),
    options,
  );
  return { done, request: FakeRequest.last };
}

test("an upload sends the file and reports its progress", async () => {
  const shares: number[] = [];
  const { done, request } = start({ onProgress: (share: number) => shares.push(share) });
  request.upload.onprogress?.({ lengthComputable: true, loaded: 1, total: 4 });
  request.upload.onprogress?.({ lengthComputable: false, loaded: 2, total: 0 });
  request.answer(201, { media_id: "m1" });

  expect(await done).toEqual({ media_id: "m1" });
  expect(shares).toEqual([0.25]);
  expect(request.headers["request-line"]).toBe("POST /api/v1/media/upload");
  expect(request.body?.get("file")).toBeInstanceOf(File);
});

test("a toProblem upload fails with the server's reason", async () => {
  const { done, request } = start();
  request.answer(400, { code: "media_refused", detail: "Not a picture." });
  await expect(done).rejects.toMatchObject({ code: "media_refused", status: 400 });
});

test("a broken connection means offline", async () => {
  const { done, request } = start();
  request.onerror();
  await expect(done).rejects.toMatchObject({ code: "offline" });
});

test("an aborted upload stops", async () => {
  const abort = new AbortController();
  const { done } = start({ signal: abort.signal });
  abort.abort();
  await expect(done).rejects.toMatchObject({ name: "AbortError" });
});
