/** Prefetched responses are used once, and never in place of newer ones. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api } from "../../src/client";
import { FEED_PAGE, prefetch, prefetchUrls } from "../../src/client/prefetch";
import { problem, respondWith } from "./fakeFetch";

const ME = "/api/v1/accounts/me";

/** A slow machine may take longer to get here than a prefetched response is valid. */
beforeEach(() => {
  vi.spyOn(performance, "now").mockReturnValue(1_000);
});
afterEach(() => {
  delete window.tintypePrefetched;
});

test("a prefetched response saves one request, once", async () => {
  const fetched = respondWith({ body: { username: "prefetched" } }, { body: { username: "requested" } });
  prefetch(ME);

  expect(await api.getMe()).toEqual({ username: "prefetched" });
  expect(await api.getMe()).toEqual({ username: "requested" });
  expect(fetched).toHaveBeenCalledTimes(2);
});

test("home prefetches exactly the URL that the feed requests", async () => {
  const [feed = ""] = prefetchUrls("/", "following");
  const fetched = respondWith({ body: { posts: [], next_cursor: null, has_more: false } });
  prefetch(feed);

  await api.getFeed("following", null, FEED_PAGE);

  expect(fetched).toHaveBeenCalledTimes(1);
});

test("a prefetched error response is an error", async () => {
  respondWith(problem(401, "not_signed_in"));
  prefetch(ME);

  await expect(api.getMe()).rejects.toMatchObject({ status: 401, code: "not_signed_in" });
});

test("a failed prefetch is reported to the request that takes it", async () => {
  respondWith(new TypeError("no network"));
  prefetch(ME);

  await expect(api.getMe()).rejects.toMatchObject({ status: 0, code: "offline" });
});

test("a write drops prefetched responses", async () => {
  respondWith({ body: { username: "before" } }, { status: 204 }, { body: { username: "after" } });
  prefetch(ME);
  await api.like("1");

  expect(await api.getMe()).toEqual({ username: "after" });
});

test("a prefetched response that is too old is requested again", async () => {
  respondWith({ body: { username: "old" } }, { body: { username: "new" } });
  prefetch(ME);
  vi.spyOn(performance, "now").mockReturnValue(120_000);

  expect(await api.getMe()).toEqual({ username: "new" });
});
