/** What was seen, kept under the account that saw it. */
import { expect, test } from "vitest";
import { MemoryDrawer } from "../../src/base/store";
import { Memory } from "../../src/offline/memory";

const open = () => {
  const drawer = new MemoryDrawer<never>();
  return { drawer, memory: new Memory(drawer) };
};

test("what was seen before it was known by whom is kept once it is", async () => {
  const { memory } = open();
  await memory.keep("feed", ["a"]);
  await memory.keep("feed", ["b"]);
  expect(await memory.find("feed")).toBeNull();
  await memory.belongTo("me");

  expect(await memory.find("feed")).toEqual(["b"]);
});

test("an answer that comes after signing out is kept for nobody", async () => {
  const { memory, drawer } = open();
  await memory.belongTo("me");
  await memory.forget();
  await memory.keep("feed", ["a"]);
  await memory.belongTo("somebody else");

  expect(await drawer.all()).toEqual([]);
});

test("nothing of anybody else stays", async () => {
  const { memory, drawer } = open();
  await memory.belongTo("me");
  await memory.keep("feed", ["a"]);
  await memory.belongTo("somebody else");

  expect(await drawer.all()).toEqual([]);
});
