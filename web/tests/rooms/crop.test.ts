import { describe, expect, test } from "vitest";
import { largest, mirror, move, pull, ratioOf, SMALLEST, WHOLE } from "../../src/rooms/media/editor/crop";

describe("the crop frame", () => {
  test("is as large as its ratio allows, and centred", () => {
    expect(largest(null, 1.5)).toEqual(WHOLE);
    expect(largest(1, 2)).toEqual({ x: 0.25, y: 0, width: 0.5, height: 1 });
    expect(largest(16 / 9, 1)).toMatchObject({ x: 0, width: 1, height: expect.closeTo(0.5625) });
  });

  test("stays inside the picture when dragged", () => {
    const part = { x: 0.2, y: 0.2, width: 0.5, height: 0.5 };
    expect(move(part, 9, -9)).toEqual({ x: 0.5, y: 0, width: 0.5, height: 0.5 });
  });

  test("keeps the opposite corner when resized", () => {
    const part = { x: 0.2, y: 0.2, width: 0.6, height: 0.6 };
    const pulled = pull(part, "nw", 0.1, 0.2, null, 1);
    expect(pulled.x + pulled.width).toBeCloseTo(0.8);
    expect(pulled.y + pulled.height).toBeCloseTo(0.8);
    expect(pulled).toMatchObject({ width: expect.closeTo(0.5), height: expect.closeTo(0.4) });
  });

  test("keeps its ratio and stays inside the picture when resized", () => {
    const pictureRatio = 1.5;
    const start = largest(ratioOf("square", pictureRatio), pictureRatio);
    for (const corner of ["nw", "ne", "sw", "se"] as const) {
      for (const by of [-2, -0.3, 0.05, 2]) {
        const pulled = pull(start, corner, by, by, 1, pictureRatio);
        expect((pulled.width / pulled.height) * pictureRatio).toBeCloseTo(1);
        expect(pulled.x).toBeGreaterThanOrEqual(-1e-9);
        expect(pulled.x + pulled.width).toBeLessThanOrEqual(1 + 1e-6);
        expect(pulled.y + pulled.height).toBeLessThanOrEqual(1 + 1e-6);
        expect(Math.min(pulled.width, pulled.height)).toBeGreaterThanOrEqual(SMALLEST - 1e-9);
      }
    }
  });

  test("is mirrored with the picture", () => {
    expect(mirror({ x: 0.1, y: 0.3, width: 0.4, height: 0.2 })).toMatchObject({ x: 0.5, y: 0.3 });
  });
});
