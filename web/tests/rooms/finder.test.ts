import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Finder, hrefOf } from "../../src/rooms/search/finder.svelte";
import { answer, problem } from "../client/answers";

const ana = {
  account_id: "7",
  username: "ana",
  full_name: "Ana",
  profile_pic_url: null,
  is_private: false,
  is_verified: false,
  follower_count: 1,
  viewer_follows: false,
  viewer_has_requested: false,
  follows_viewer: false,
  mutual_count: 0,
};
const found = { people: [ana], tags: [{ tag: "anchor", post_count: 2 }], places: [] };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("only the last words are asked for, a moment after they were typed", async () => {
  const fetched = answer({ body: found });
  const finder = new Finder();
  for (const words of ["a", "an", "ana"]) {
    finder.words = words;
    finder.ask();
  }
  await vi.runAllTimersAsync();

  expect(fetched).toHaveBeenCalledOnce();
  expect(fetched.mock.calls[0]?.[0]).toContain("q=ana");
  expect(finder.options.map(({ href }) => href)).toEqual(["/@ana", "/tags/anchor"]);
});

test("the arrow keys go round by way of the field", async () => {
  answer({ body: found });
  const finder = new Finder();
  finder.words = "an";
  finder.ask();
  await vi.runAllTimersAsync();
  const places = [1, 1, 1, -1].map((by) => {
    finder.step(by as 1 | -1);
    return finder.current?.kind ?? "field";
  });

  expect(places).toEqual(["account", "tag", "field", "tag"]);
});

test("an empty field asks nobody and shows nothing", async () => {
  const fetched = answer();
  const finder = new Finder();
  finder.words = "  ";
  finder.ask();
  await vi.runAllTimersAsync();

  expect(fetched).not.toHaveBeenCalled();
  expect([finder.found, finder.isAsking]).toEqual([null, false]);
});

test("a failure is kept to be told, and forgotten with the next letter", async () => {
  answer(problem(503, "unavailable"), { body: found });
  const finder = new Finder();
  finder.words = "an";
  finder.ask();
  await vi.runAllTimersAsync();
  expect(finder.failure).toMatchObject({ code: "unavailable" });
  finder.ask();

  expect(finder.failure).toBeNull();
});

test("a recent search leads where it led", () => {
  const recent = { search_id: "1", subject: "7", title: "ana", profile_pic_url: null };
  expect(hrefOf({ ...recent, kind: "account" })).toBe("/@ana");
  expect(hrefOf({ ...recent, kind: "words", subject: "a b" })).toBe("/search?q=a%20b");
});
