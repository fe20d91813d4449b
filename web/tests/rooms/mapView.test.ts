import { describe, expect, test } from "vitest";
import { nearest, viewOf } from "../../src/rooms/posts/places/mapView";

const BERLIN = { name: "Berlin", latitude: 52.5, longitude: 13.4 };
const CAIRO = { name: "Cairo", latitude: 30, longitude: 31.2 };
const SUVA = { name: "Suva", latitude: -18.1, longitude: 178.4 };

describe("the view of a small map", () => {
  test("shows all points, keeps its shape, and stays on the globe", () => {
    for (const points of [[BERLIN], [BERLIN, CAIRO], [SUVA], [BERLIN, SUVA]]) {
      const view = viewOf(points, 2);
      expect(view.width / view.height).toBeCloseTo(2);
      expect(view.x).toBeGreaterThanOrEqual(-180);
      expect(view.x + view.width).toBeLessThanOrEqual(180);
      for (const { longitude, latitude } of points) {
        expect(longitude).toBeGreaterThan(view.x);
        expect(longitude).toBeLessThan(view.x + view.width);
        expect(-latitude).toBeGreaterThan(view.y);
        expect(-latitude).toBeLessThan(view.y + view.height);
      }
    }
  });

  test("is the whole world where there is nothing to show", () => {
    expect(viewOf([], 2).width).toBe(360);
  });

  test("tells which point was meant, and that none was", () => {
    const view = { x: 0, y: -60, width: 60, height: 40 };
    expect(nearest([BERLIN, CAIRO], view, { x: 13 / 60, y: 8 / 40 }, 0.05)).toBe(BERLIN);
    expect(nearest([BERLIN, CAIRO], view, { x: 0.9, y: 0.1 }, 0.05)).toBeNull();
  });
});
