import { expect, test } from "vitest";
import { PagedList } from "../../src/base/pagedList.svelte";

const keyOf = (item: string) => item;

test("pages are appended, and overlapping items appear once", async () => {
  const asked: (string | null)[] = [];
  const pages = new PagedList<string>(async (cursor) => {
    asked.push(cursor);
    return cursor === null ? { items: ["a", "b"], next: "2" } : { items: ["b", "c"], next: null };
  }, keyOf);
  await pages.loadMore();
  await pages.loadMore();
  await pages.loadMore();

  expect(asked).toEqual([null, "2"]);
  expect(pages.items).toEqual(["a", "b", "c"]);
  expect(pages.hasMore).toBe(false);
});

test("a failed page can be retried, and earlier items stay", async () => {
  const answers = [
    async () => ({ items: ["a"], next: "2" }),
    async () => Promise.reject(new Error("gone")),
    async () => ({ items: ["b"], next: null }),
  ];
  const pages = new PagedList<string>(() => (answers.shift() ?? Promise.reject)(), keyOf);
  await pages.loadMore();
  await pages.loadMore();
  expect([pages.items, pages.failure]).toEqual([["a"], new Error("gone")]);
  await pages.loadMore();

  expect([pages.items, pages.failure]).toEqual([["a", "b"], null]);
});

test("an answer to a question of an earlier generation is dropped", async () => {
  let answer: (page: { items: string[]; next: null }) => void = () => {};
  const pages = new PagedList<string>(() => new Promise((resolve) => (answer = resolve)), keyOf);
  const first = pages.loadMore();
  const late = answer;
  const second = pages.reload();
  answer({ items: ["new"], next: null });
  await second;
  late({ items: ["old"], next: null });
  await first;

  expect(pages.items).toEqual(["new"]);
});

test("two simultaneous calls load one page", async () => {
  let asked = 0;
  const pages = new PagedList<string>(async () => ({ items: [`${++asked}`], next: "more" }), keyOf);
  await Promise.all([pages.loadMore(), pages.loadMore()]);

  expect(pages.items).toEqual(["1"]);
});
