import { afterEach, describe, expect, test, vi } from "vitest";
import { api, onSessionEnded, Problem } from "../../src/client";
import { csrfToken } from "../../src/client/csrf";
import { send } from "../../src/client/http";
import { problem, respondWith } from "./fakeFetch";

afterEach(() => {
  document.cookie = "tt_csrf=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/";
});

async function failureOf(work: Promise<unknown>): Promise<Problem> {
  const failure: unknown = await work.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Problem);
  return failure as Problem;
}

describe("a request", () => {
  test("leaves absent parameters out of its query", async () => {
    const fetched = respondWith({ body: { posts: [], next_cursor: null, has_more: false } });
    await api.getFeed("ranked", null, 12);
    expect(fetched.mock.calls[0]?.[0]).toBe("/api/v1/feed?mode=ranked&limit=12");
  });

  test("escapes user input in its path", async () => {
    const fetched = respondWith({ body: {} });
    await api.getProfile("a/../b?");
    expect(fetched.mock.calls[0]?.[0]).toBe("/api/v1/accounts/by-name/a%2F..%2Fb%3F");
  });

  test("carries the CSRF token when it writes, and only then", async () => {
    document.cookie = "tt_csrf=secret; Path=/";
    const fetched = respondWith({ status: 204 }, { body: {} });
    await api.like("1");
    await api.getMe();
    const headers = fetched.mock.calls.map(([, init]) => init?.headers as Record<string, string>);
    expect(headers[0]?.["X-CSRF-Token"]).toBe("secret");
    expect(headers[1]?.["X-CSRF-Token"]).toBeUndefined();
  });

  test("to publish carries its idempotency key", async () => {
    const fetched = respondWith({ status: 201, body: { post_id: "1" } });
    await api.publish({ media_ids: ["m"], caption: "" }, "key-1");
    expect(fetched.mock.calls[0]?.[1]?.headers).toMatchObject({ "Idempotency-Key": "key-1" });
  });

  test("resolves to null when the response is empty", async () => {
    respondWith({ status: 204 });
    expect(await send("DELETE", "/x")).toBeNull();
  });
});

describe("a failure", () => {
  test("has the server's code, detail and request id", async () => {
    respondWith(problem(409, "username_taken", "That username is taken."));
    const failure = await failureOf(api.join({ username: "ana", password: "x" }));
    expect(failure).toMatchObject({
      status: 409,
      code: "username_taken",
      detail: "That username is taken.",
      requestId: "r-1",
    });
  });

  test("that is not problem+json still has a code", async () => {
    respondWith({ status: 502, body: "<html>Bad Gateway</html>" }, { status: 413, body: "" });
    expect((await failureOf(api.getMe())).code).toBe("unavailable");
    expect((await failureOf(api.getMe())).code).toBe("too_large");
  });

  test("without any response means offline", async () => {
    respondWith(new TypeError("Failed to fetch"));
    expect(await failureOf(api.getMe())).toMatchObject({ status: 0, code: "offline" });
  });

  test("of the session notifies the listener", async () => {
    const listener = vi.fn();
    onSessionEnded(listener);
    respondWith(problem(401, "not_signed_in"), problem(404, "not_found"));
    await failureOf(api.getMe());
    await failureOf(api.getMe());
    expect(listener).toHaveBeenCalledOnce();
  });

  test("by abort is not reported as offline", async () => {
    const abort = new AbortController();
    abort.abort();
    respondWith(new DOMException("aborted", "AbortError"));
    await expect(send("GET", "/x", { signal: abort.signal })).rejects.toMatchObject({ name: "AbortError" });
  });
});

test("the token is found among other cookies", () => {
  expect(csrfToken("a=1; tt_csrf=x%3D%3D; b=2")).toBe("x==");
  expect(csrfToken("a=1; not_tt_csrf=x")).toBeNull();
});
