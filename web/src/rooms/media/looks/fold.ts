/**
 * Folds the look, its strength and the sliders into one 3D lookup table (LUT) of colours.
 *
 * The server's `media/looks/fold.py` holds the same arithmetic; change both, the browser test compares them.
 */
import type { Edit } from "./edit";

export const SIZE = 33;
const COLOURS = SIZE ** 3;
const BRIGHTEST = 0.9;
const HARDEST = 0.85;
const SOFTEST = 0.5;
const MOST_COLOUR = 0.8;
const WARMEST = [0.12, 0.01, -0.16] as const;

/**
 * The table: four numbers per colour (the fourth unused), red varying fastest, as a 3D texture takes it.
 *
 * One pass over the table per step, in plain loops: a slider calls this for every frame.
 */
export function fold(edit: Edit, strip: Uint8Array | null): Float32Array {
  const table = PLAIN_TABLE.slice();
  if (strip) blendLook(table, strip, edit.strength / 100);
  if (edit.warmth) warm(table, edit.warmth / 100);
  if (edit.brightness) brighten(table, (BRIGHTEST * edit.brightness) / 100);
  if (edit.contrast < 0) soften(table, (SOFTEST * edit.contrast) / 100);
  if (edit.contrast > 0) harden(table, (HARDEST * edit.contrast) / 100);
  if (edit.saturation) saturate(table, edit.saturation / 100);
  return table;
}

const PLAIN_TABLE = plainTable();

function plainTable(): Float32Array {
  const table = new Float32Array(COLOURS * 4);
  for (let at = 0; at < COLOURS; at++) {
    table[at * 4] = (at % SIZE) / (SIZE - 1);
    table[at * 4 + 1] = (Math.floor(at / SIZE) % SIZE) / (SIZE - 1);
    table[at * 4 + 2] = Math.floor(at / SIZE ** 2) / (SIZE - 1);
  }
  return table;
}

function blendLook(table: Float32Array, strip: Uint8Array, share: number): void {
  for (let at = 0, from = 0; at < table.length; at += 4, from += 3)
    for (let channel = 0; channel < 3; channel++) {
      const plain = table[at + channel] ?? 0;
      table[at + channel] = plain + ((strip[from + channel] ?? 0) / 255 - plain) * share;
    }
}

function luma(red: number, green: number, blue: number): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Warmer, or cooler below 0, at the same luminance. */
function warm(table: Float32Array, amount: number): void {
  const [byRed, byGreen, byBlue] = WARMEST;
  for (let at = 0; at < table.length; at += 4) {
    const [red, green, blue] = [table[at] ?? 0, table[at + 1] ?? 0, table[at + 2] ?? 0];
    const more = [red * amount * byRed, green * amount * byGreen, blue * amount * byBlue] as const;
    const gained = luma(...more);
    table[at] = red + more[0] - gained;
    table[at + 1] = green + more[1] - gained;
    table[at + 2] = blue + more[2] - gained;
  }
}

function brighten(table: Float32Array, amount: number): void {
  for (let at = 0; at < table.length; at++) {
    const value = table[at] ?? 0;
    table[at] = value + amount * value * (1 - value);
  }
}

function soften(table: Float32Array, amount: number): void {
  for (let at = 0; at < table.length; at++) {
    const value = table[at] ?? 0;
    table[at] = value + amount * (value - 0.5);
  }
}

function harden(table: Float32Array, amount: number): void {
  for (let at = 0; at < table.length; at++) {
    const value = table[at] ?? 0;
    table[at] = value + amount * (value * value * (3 - 2 * value) - value);
  }
}

function saturate(table: Float32Array, amount: number): void {
  const factor = 1 + amount * (amount > 0 ? MOST_COLOUR : 1);
  for (let at = 0; at < table.length; at += 4) {
    const grey = luma(table[at] ?? 0, table[at + 1] ?? 0, table[at + 2] ?? 0);
    for (let channel = at; channel < at + 3; channel++)
      table[channel] = grey + ((table[channel] ?? 0) - grey) * factor;
  }
}
