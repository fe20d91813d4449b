import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { recentHref, SearchBoxState } from "../../src/rooms/search/searchBox.svelte";
import { problem, respondWith } from "../client/fakeFetch";

const ana = {
  account_id: "7",
  username: "ana",
  full_name: "Ana",
  profile_pic_url: null,
  is_private: false,
  is_verified: false,
  follower_count: 1,
  relation: { viewer_follows: false, viewer_has_requested: false, follows_viewer: false },
  mutual_count: 0,
};
const found = { people: [ana], tags: [{ tag: "anchor", post_count: 2 }], places: [] };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("only the last query is sent, after a pause", async () => {
  const fetched = respondWith({ body: found });
  const search = new SearchBoxState();
  for (const query of ["a", "an", "ana"]) {
    search.query = query;
    search.search();
  }
  await vi.runAllTimersAsync();

  expect(fetched).toHaveBeenCalledOnce();
  expect(fetched.mock.calls[0]?.[0]).toContain("q=ana");
  expect(search.options.map(({ href }) => href)).toEqual(["/@ana", "/tags/anchor"]);
});

test("the arrow keys cycle through the options and the field", async () => {
  respondWith({ body: found });
  const search = new SearchBoxState();
  search.query = "an";
  search.search();
  await vi.runAllTimersAsync();
  const places = [1, 1, 1, -1].map((by) => {
    search.step(by as 1 | -1);
    return search.current?.kind ?? "field";
  });

  expect(places).toEqual(["account", "tag", "field", "tag"]);
});

test("an empty query sends nothing and shows nothing", async () => {
  const fetched = respondWith();
  const search = new SearchBoxState();
  search.query = "  ";
  search.search();
  await vi.runAllTimersAsync();

  expect(fetched).not.toHaveBeenCalled();
  expect([search.results, search.isSearching]).toEqual([null, false]);
});

test("a failure is reported, and cleared by the next search", async () => {
  respondWith(problem(503, "unavailable"), { body: found });
  const search = new SearchBoxState();
  search.query = "an";
  search.search();
  await vi.runAllTimersAsync();
  expect(search.failure).toMatchObject({ code: "unavailable" });
  search.search();

  expect(search.failure).toBeNull();
});

test("a recent search links to its page", () => {
  const recent = { search_id: "1", subject: "7", title: "ana", profile_pic_url: null };
  expect(recentHref({ ...recent, kind: "account" })).toBe("/@ana");
  expect(recentHref({ ...recent, kind: "words", subject: "a b" })).toBe("/search?q=a%20b");
});
