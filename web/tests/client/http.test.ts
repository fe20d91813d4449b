import { afterEach, describe, expect, test, vi } from "vitest";
import { api, Problem, whenSignedOut } from "../../src/client";
import { csrfToken } from "../../src/client/csrf";
import { send } from "../../src/client/http";
import { answer, problem } from "./answers";

afterEach(() => {
  document.cookie = "tt_csrf=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/";
});

async function failureOf(work: Promise<unknown>): Promise<Problem> {
  const failure: unknown = await work.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Problem);
  return failure as Problem;
}

describe("a request", () => {
  test("carries its query without what is absent", async () => {
    const fetched = answer({ body: { posts: [], next_cursor: null, has_more: false } });
    await api.getFeed("ranked", null, 12);
    expect(fetched.mock.calls[0]?.[0]).toBe("/api/v1/feed?mode=ranked&limit=12");
  });

  test("escapes what people typed", async () => {
    const fetched = answer({ body: {} });
    await api.getProfile("a/../b?");
    expect(fetched.mock.calls[0]?.[0]).toBe("/api/v1/accounts/by-name/a%2F..%2Fb%3F");
  });

  test("proves its origin when it changes something, and only then", async () => {
    document.cookie = "tt_csrf=secret; Path=/";
    const fetched = answer({ status: 204 }, { body: {} });
    await api.like("1");
    await api.getMe();
    const headers = fetched.mock.calls.map(([, init]) => init?.headers as Record<string, string>);
    expect(headers[0]?.["X-CSRF-Token"]).toBe("secret");
    expect(headers[1]?.["X-CSRF-Token"]).toBeUndefined();
  });

  test("to publish carries the key that makes it safe to repeat", async () => {
    const fetched = answer({ status: 201, body: { post_id: "1" } });
    await api.publish({ media_ids: ["m"], caption: "" }, "key-1");
    expect(fetched.mock.calls[0]?.[1]?.headers).toMatchObject({ "Idempotency-Key": "key-1" });
  });

  test("resolves with null when the answer is empty", async () => {
    answer({ status: 204 });
    expect(await send("DELETE", "/x")).toBeNull();
  });
});

describe("a failure", () => {
  test("keeps the server's code, detail and number", async () => {
    answer(problem(409, "username_taken", "That username is taken."));
    const failure = await failureOf(api.join({ username: "ana", password: "x" }));
    expect(failure).toMatchObject({
      status: 409,
      code: "username_taken",
      detail: "That username is taken.",
      requestId: "r-1",
    });
  });

  test("that is not problem+json still has a code", async () => {
    answer({ status: 502, body: "<html>Bad Gateway</html>" }, { status: 413, body: "" });
    expect((await failureOf(api.getMe())).code).toBe("unavailable");
    expect((await failureOf(api.getMe())).code).toBe("too_large");
  });

  test("without any answer means offline", async () => {
    answer(new TypeError("Failed to fetch"));
    expect(await failureOf(api.getMe())).toMatchObject({ status: 0, code: "offline" });
  });

  test("of the session is told to whoever listens", async () => {
    const listener = vi.fn();
    whenSignedOut(listener);
    answer(problem(401, "not_signed_in"), problem(404, "not_found"));
    await failureOf(api.getMe());
    await failureOf(api.getMe());
    expect(listener).toHaveBeenCalledOnce();
  });

  test("that the caller asked for is not reported as offline", async () => {
    const abort = new AbortController();
    abort.abort();
    answer(new DOMException("aborted", "AbortError"));
    await expect(send("GET", "/x", { signal: abort.signal })).rejects.toMatchObject({ name: "AbortError" });
  });
});

test("the token is found among other cookies", () => {
  expect(csrfToken("a=1; tt_csrf=x%3D%3D; b=2")).toBe("x==");
  expect(csrfToken("a=1; not_tt_csrf=x")).toBeNull();
});
