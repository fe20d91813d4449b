import { describe, expect, test } from "vitest";
import { PLAIN } from "../../src/rooms/media";
import { toEdited, toUnedited } from "../../src/rooms/media/tagging/taggedPoint";

const PHOTO = { width: 1000, height: 600 };
const FACE = { x: 0.3, y: 0.4 };

describe("a tagged point", () => {
  test.each([
    [{}, { x: 0.3, y: 0.4 }],
    [{ turns: 1 }, { x: 0.6, y: 0.3 }],
    [{ turns: 2 }, { x: 0.7, y: 0.6 }],
    [{ turns: 3 }, { x: 0.4, y: 0.7 }],
    [{ mirrored: true }, { x: 0.7, y: 0.4 }],
    [
      { turns: 1, mirrored: true },
      { x: 0.4, y: 0.3 },
    ],
    [{ crop: { x: 0.2, y: 0.2, width: 0.5, height: 0.5 } }, { x: 0.2, y: 0.4 }],
  ])("stays on the person after %j", (change, expected) => {
    const moved = toEdited(FACE, PHOTO, { ...PLAIN, ...change });
    expect(moved.x).toBeCloseTo(expected.x);
    expect(moved.y).toBeCloseTo(expected.y);
  });

  test("lies outside where it has been cropped away", () => {
    const crop = { x: 0.5, y: 0, width: 0.5, height: 1 };
    expect(toEdited(FACE, PHOTO, { ...PLAIN, crop }).x).toBeLessThan(0);
  });

  test("goes back to where it came from, whatever the edit", () => {
    const crop = { x: 0.1, y: 0.2, width: 0.6, height: 0.7 };
    for (const turns of [0, 1, 2, 3])
      for (const mirrored of [false, true])
        for (const straighten of [0, -12, 7.5]) {
          const edit = { ...PLAIN, turns, mirrored, straighten, crop };
          const back = toUnedited(toEdited(FACE, PHOTO, edit), PHOTO, edit);
          expect(back.x).toBeCloseTo(FACE.x);
          expect(back.y).toBeCloseTo(FACE.y);
        }
  });
});
