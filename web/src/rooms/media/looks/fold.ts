/**
 * The look, its strength and the sliders folded into one table of colours.
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

/** A colour on its way through the sliders. */
type Colour = [red: number, green: number, blue: number];

/** Four numbers per colour, red running fastest: what a 3D texture takes. The fourth is not used. */
export function fold(edit: Edit, strip: Uint8Array | null): Float32Array {
  const table = new Float32Array(COLOURS * 4);
  const adjust = adjustments(edit);
  const share = edit.strength / 100;
  const colour: Colour = [0, 0, 0];
  for (let at = 0; at < COLOURS; at++) {
    colour[0] = (at % SIZE) / (SIZE - 1);
    colour[1] = (Math.floor(at / SIZE) % SIZE) / (SIZE - 1);
    colour[2] = Math.floor(at / SIZE ** 2) / (SIZE - 1);
    if (strip) lean(colour, strip, at * 3, share);
    for (const step of adjust) step(colour);
    table.set(colour, at * 4);
  }
  return table;
}

function lean(colour: Colour, strip: Uint8Array, at: number, share: number): void {
  for (let channel = 0; channel < 3; channel++) {
    const plain = colour[channel] ?? 0;
    colour[channel] = plain + ((strip[at + channel] ?? 0) / 255 - plain) * share;
  }
}

function luma(colour: Colour): number {
  return 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2];
}

/** The sliders that have been moved, in the order in which they act. */
function adjustments(edit: Edit): ((colour: Colour) => void)[] {
  const steps: ((colour: Colour) => void)[] = [];
  if (edit.warmth) steps.push(warm(edit.warmth / 100));
  if (edit.brightness) steps.push(each(brighten(edit.brightness / 100)));
  if (edit.contrast) steps.push(each(contrast(edit.contrast / 100)));
  if (edit.saturation) steps.push(saturate(edit.saturation / 100));
  return steps;
}

function each(step: (value: number) => number): (colour: Colour) => void {
  return (colour) => {
    colour[0] = step(colour[0]);
    colour[1] = step(colour[1]);
    colour[2] = step(colour[2]);
  };
}

function warm(amount: number): (colour: Colour) => void {
  return (colour) => {
    const before = luma(colour);
    for (let channel = 0; channel < 3; channel++)
      colour[channel] = (colour[channel] ?? 0) * (1 + amount * (WARMEST[channel] ?? 0));
    const lost = before - luma(colour);
    colour[0] += lost;
    colour[1] += lost;
    colour[2] += lost;
  };
}

function brighten(amount: number): (value: number) => number {
  return (value) => value + BRIGHTEST * amount * value * (1 - value);
}

function contrast(amount: number): (value: number) => number {
  if (amount < 0) return (value) => value + SOFTEST * amount * (value - 0.5);
  return (value) => value + HARDEST * amount * (value * value * (3 - 2 * value) - value);
}

function saturate(amount: number): (colour: Colour) => void {
  const factor = 1 + amount * (amount > 0 ? MOST_COLOUR : 1);
  return (colour) => {
    const grey = luma(colour);
    for (let channel = 0; channel < 3; channel++)
      colour[channel] = grey + ((colour[channel] ?? 0) - grey) * factor;
  };
}
