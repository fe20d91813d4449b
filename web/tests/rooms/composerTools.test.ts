import { describe, expect, test } from "vitest";
import { keepShared, takeShared } from "../../src/base/sharedFiles";
import { ratioOf, shapes } from "../../src/rooms/media/editor/crop";
import { isSlowConnection } from "../../src/rooms/media/shrink";
import { indexAt } from "../../src/rooms/posts/create/sortByDragging";

describe("slow connections", () => {
  test("are those that the browser calls slow, and those that are to save data", () => {
    expect(isSlowConnection({ effectiveType: "3g" })).toBe(true);
    expect(isSlowConnection({ effectiveType: "4g", downlink: 0.9 })).toBe(true);
    expect(isSlowConnection({ effectiveType: "4g", downlink: 10, saveData: true })).toBe(true);
  });

  test("are not supposed where the browser does not say", () => {
    expect(isSlowConnection({ effectiveType: "4g", downlink: 10 })).toBe(false);
    expect(isSlowConnection(undefined)).toBe(false);
  });
});

test("what was shared is taken once", async () => {
  await keepShared([new File(["x"], "a.jpg")], "From afar");
  expect(await takeShared()).toMatchObject({ text: "From afar", files: [{ name: "a.jpg" }] });
  expect(await takeShared()).toBeNull();
});

test("a crop can have every shape that is shown whole, from 9:16 to 3:1", () => {
  const ratios = shapes.map((shape) => ratioOf(shape, 1.5)).filter((ratio) => ratio !== null);
  expect(Math.min(...ratios)).toBe(9 / 16);
  expect(Math.max(...ratios)).toBe(3);
});

test("a dragged picture goes to the nearest position, in either direction of writing", () => {
  const boxes = [200, 100, 0].map((left) => ({ getBoundingClientRect: () => ({ left, width: 80 }) }));
  const list = { children: boxes } as unknown as HTMLElement;
  expect([-50, 60, 130, 260].map((x) => indexAt(list, x))).toEqual([2, 2, 1, 0]);
});
