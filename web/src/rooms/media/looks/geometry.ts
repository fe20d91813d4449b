/**
 * Turning, straightening and cropping as one step: where each pixel of the result comes from.
 *
 * The server's `media/looks/geometry.py` holds the same arithmetic; change both, the browser test compares them.
 */
import type { Edit } from "./edit";

/** The result's size, and its pixels in the turned photo: x' = a·x + b·y + left, y' = -b·x + a·y + top. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly a: number;
  readonly b: number;
  readonly left: number;
  readonly top: number;
}

/** Where the result lies in a photo of this size, as it comes, before any turn. */
export function frame(sourceWidth: number, sourceHeight: number, edit: Edit): Frame {
  const lies = edit.turns % 2 === 1;
  const width = lies ? sourceHeight : sourceWidth;
  const height = lies ? sourceWidth : sourceHeight;
  const angle = (edit.straighten * Math.PI) / 180;
  const a = Math.cos(angle);
  const b = Math.sin(angle);
  const scale = 1 / (a + Math.abs(b) * Math.max(width / height, height / width));
  const [wholeWidth, wholeHeight] = [whole(width * scale), whole(height * scale)];
  const [left, keptWidth] = part(edit.crop.x, edit.crop.width, wholeWidth);
  const [top, keptHeight] = part(edit.crop.y, edit.crop.height, wholeHeight);
  const across = left - wholeWidth / 2;
  const down = top - wholeHeight / 2;
  return {
    width: keptWidth,
    height: keptHeight,
    a,
    b,
    left: edit.straighten ? width / 2 + a * across + b * down : left,
    top: edit.straighten ? height / 2 - b * across + a * down : top,
  };
}

/** Fractions as whole pixels: at least one of them, and none beyond the end. */
function part(start: number, length: number, all: number): [first: number, count: number] {
  const first = Math.min(Math.floor(start * all + 0.5), all - 1);
  return [first, Math.min(Math.max(1, Math.floor(length * all + 0.5)), all - first)];
}

/** Rounded down, but not because of the last bit. */
function whole(value: number): number {
  return Math.max(1, Math.floor(value + 1e-6));
}
