import { expect, test } from "vitest";
import {
  amounts,
  type Edit,
  fold,
  frame,
  type Look,
  PLAIN,
  readStrip,
  SIZE,
} from "../../src/rooms/media/looks";

const LOOK: Look = { id: "a", name: "A", strip: "/looks/a.png", vignette: 30, grain: 10 };

function edit(changes: Partial<Edit>): Edit {
  return { ...PLAIN, ...changes };
}

function colourAt(table: Float32Array, red: number, green: number, blue: number): number[] {
  const at = ((blue * SIZE + green) * SIZE + red) * 4;
  return [...table.subarray(at, at + 3)];
}

function chunk(kind: string, body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const length = new Uint8Array(new Uint32Array([body.length]).buffer).reverse();
  return [length, new TextEncoder().encode(kind), body, new Uint8Array(4)];
}

async function png(rows: Uint8Array<ArrayBuffer>, kind = [8, 2, 0, 0, 0]): Promise<Uint8Array> {
  const packed = new Blob([rows]).stream().pipeThrough(new CompressionStream("deflate"));
  const file = new Blob([
    new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ...chunk("IHDR", new Uint8Array([0, 0, 4, 65, 0, 0, 0, 33, ...kind])),
    ...chunk("IDAT", new Uint8Array(await new Response(packed).arrayBuffer())),
    ...chunk("IEND", new Uint8Array()),
  ]);
  return new Uint8Array(await file.arrayBuffer());
}

test("the neutral edit folds into an identity table", () => {
  const table = fold(PLAIN, null);

  for (const [red, green, blue] of [
    [0, 0, 0],
    [32, 0, 16],
    [7, 31, 2],
  ] as const)
    expect(colourAt(table, red, green, blue)).toEqual([red / 32, green / 32, blue / 32].map(Math.fround));
});

test("strength blends from the photo to the look", () => {
  const white = new Uint8Array(SIZE ** 3 * 3).fill(255);

  expect(colourAt(fold(edit({ strength: 50 }), white), 0, 16, 32)).toEqual([0.5, 0.75, 1]);
  expect(colourAt(fold(edit({ strength: 100 }), white), 0, 16, 32)).toEqual([1, 1, 1]);
});

test("minimum saturation is grey, and warmth preserves luminance", () => {
  const grey = colourAt(fold(edit({ saturation: -100 }), null), 32, 0, 0);
  const [red = 0, green = 0, blue = 0] = colourAt(fold(edit({ warmth: 100 }), null), 16, 16, 16);

  expect(grey.every((value) => Math.abs(value - 0.2126) < 1e-6)).toBe(true);
  expect(red).toBeGreaterThan(blue);
  expect(0.2126 * red + 0.7152 * green + 0.0722 * blue).toBeCloseTo(0.5);
});

test("a crop is whole pixels, at least one, inside the photo", () => {
  const kept = frame(100, 50, edit({ crop: { x: 0.1, y: 0.2, width: 0.5, height: 0.6 } }));
  const last = frame(3, 3, edit({ crop: { x: 0.95, y: 0.95, width: 0.05, height: 0.05 } }));

  expect(kept).toEqual({ width: 50, height: 30, a: 1, b: 0, left: 10, top: 10 });
  expect([last.left, last.top, last.width, last.height]).toEqual([2, 2, 1, 1]);
});

test("a quarter turn swaps the sides, and straightening keeps the ratio", () => {
  const turned = frame(300, 200, edit({ turns: 1 }));
  const straight = frame(300, 200, edit({ straighten: 10 }));

  expect([turned.width, turned.height]).toEqual([200, 300]);
  expect(straight.width / straight.height).toBeCloseTo(1.5, 1);
  expect(straight.width).toBeLessThan(300);
});

test("a look adds its own vignette and grain, scaled by its strength", () => {
  expect(amounts(edit({ strength: 50, vignette: 10 }), LOOK)).toEqual({ vignette: 0.25, grain: 0.05 });
  expect(amounts(edit({ vignette: 90 }), LOOK).vignette).toBe(1);
});

test("a LUT strip is read with every PNG row filter", async () => {
  const rows = new Uint8Array(33 * 3268);
  for (let row = 0; row < 33; row++) rows.set([row % 5, 1, 2, 3, 250], row * 3268);

  const table = await readStrip(await png(rows));

  const first = (row: number) => [...table.subarray(row * 99, row * 99 + 6)];
  expect(first(0)).toEqual([1, 2, 3, 250, 0, 0]);
  expect(first(1)).toEqual([1, 2, 3, 251, 2, 3]);
  expect(first(2)).toEqual([2, 4, 6, 245, 2, 3]);
  expect(first(3)).toEqual([2, 4, 6, 117, 3, 4]);
  expect(first(4)).toEqual([3, 6, 9, 111, 6, 6]);
});

test("what is no strip is toProblem", async () => {
  const rows = new Uint8Array(33 * 3268);

  await expect(readStrip(new Uint8Array(40))).rejects.toThrow("PNG");
  await expect(readStrip(await png(rows, [8, 6, 0, 0, 0]))).rejects.toThrow("1089");
  await expect(readStrip(await png(rows.subarray(1)))).rejects.toThrow("damaged");
});
