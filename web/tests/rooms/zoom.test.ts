import { expect, test } from "vitest";
import { boundsOf, FITTED, fitInto, pan, zoomAt } from "../../src/rooms/posts/viewer/zoom";

const STORED = { width: 2048, height: 1024 };
const STAGE = { width: 400, height: 800 };

test("a picture is fitted whole, and never beyond its stored size", () => {
  expect(fitInto(STORED, STAGE)).toEqual({ width: 400, height: 200 });
  expect(fitInto({ width: 100, height: 50 }, STAGE)).toEqual({ width: 100, height: 50 });
});

test("zooming ends at the stored size; a small picture can be doubled", () => {
  expect(zoomAt(FITTED, 99, { x: 0, y: 0 }, boundsOf(STORED, STAGE)).scale).toBe(2048 / 400);
  expect(boundsOf({ width: 100, height: 50 }, STAGE).maxScale).toBe(2);
});

test("what is under the finger stays under it", () => {
  const bounds = boundsOf(STORED, STAGE);
  const view = zoomAt(FITTED, 2, { x: 100, y: 0 }, bounds);
  // 100 px right of the centre lay the picture's point 100; enlarged twice it is 200 from the picture's centre.
  expect(view.x + 100 * view.scale).toBe(100);
});

test("panning stops at the picture's edges, and a side that fits stays centred", () => {
  const bounds = boundsOf(STORED, STAGE);
  const view = pan(zoomAt(FITTED, 2, { x: 0, y: 0 }, bounds), 9_999, 9_999, bounds);
  expect(view).toEqual({ scale: 2, x: 200, y: 0 });
});

test("zooming out again is the fitted view", () => {
  const bounds = boundsOf(STORED, STAGE);
  const view = zoomAt(FITTED, 3, { x: 120, y: 40 }, bounds);
  expect(zoomAt(view, 0.1, { x: -50, y: 9 }, bounds)).toEqual(FITTED);
});
