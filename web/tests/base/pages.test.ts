import { expect, test } from "vitest";
import { Pages } from "../../src/base/pages.svelte";

const keyOf = (item: string) => item;

test("pages follow one another, and what overlaps is there once", async () => {
  const asked: (string | null)[] = [];
  const pages = new Pages<string>(async (cursor) => {
    asked.push(cursor);
    return cursor === null ? { items: ["a", "b"], next: "2" } : { items: ["b", "c"], next: null };
  }, keyOf);
  await pages.more();
  await pages.more();
  await pages.more();

  expect(asked).toEqual([null, "2"]);
  expect(pages.items).toEqual(["a", "b", "c"]);
  expect(pages.hasMore).toBe(false);
});

test("a page that failed can be asked for again, and what is there stays", async () => {
  const answers = [
    async () => ({ items: ["a"], next: "2" }),
    async () => Promise.reject(new Error("gone")),
    async () => ({ items: ["b"], next: null }),
  ];
  const pages = new Pages<string>(() => (answers.shift() ?? Promise.reject)(), keyOf);
  await pages.more();
  await pages.more();
  expect([pages.items, pages.failure]).toEqual([["a"], new Error("gone")]);
  await pages.more();

  expect([pages.items, pages.failure]).toEqual([["a", "b"], null]);
});

test("an answer to a question of an earlier life is dropped", async () => {
  let answer: (page: { items: string[]; next: null }) => void = () => {};
  const pages = new Pages<string>(() => new Promise((resolve) => (answer = resolve)), keyOf);
  const first = pages.more();
  const late = answer;
  const second = pages.again();
  answer({ items: ["new"], next: null });
  await second;
  late({ items: ["old"], next: null });
  await first;

  expect(pages.items).toEqual(["new"]);
});

test("two who ask for more at once get one page", async () => {
  let asked = 0;
  const pages = new Pages<string>(async () => ({ items: [`${++asked}`], next: "more" }), keyOf);
  await Promise.all([pages.more(), pages.more()]);

  expect(pages.items).toEqual(["1"]);
});
