/**
 * Rotation, straightening and cropping as one affine transform: where each pixel of the result comes from.
 *
 * The server's `media/looks/geometry.py` holds the same arithmetic; change both, the browser test compares them.
 */
import type { Edit } from "./edit";

/** The size of the result, and its transform into the rotated photo: x' = a·x + b·y + left, y' = -b·x + a·y + top. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly a: number;
  readonly b: number;
  readonly left: number;
  readonly top: number;
}

/** The transform for a photo of this size (before rotation). */
export function frame(sourceWidth: number, sourceHeight: number, edit: Edit): Frame {
  const isSideways = edit.turns % 2 === 1;
  const width = isSideways ? sourceHeight : sourceWidth;
  const height = isSideways ? sourceWidth : sourceHeight;
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

/** Converts fractions to whole pixels: at least one, and none beyond the edge. */
function part(start: number, length: number, all: number): [first: number, count: number] {
  const first = Math.min(Math.floor(start * all + 0.5), all - 1);
  return [first, Math.min(Math.max(1, Math.floor(length * all + 0.5)), all - first)];
}

/** Rounds down, tolerating floating-point error. */
function whole(value: number): number {
  return Math.max(1, Math.floor(value + 1e-6));
}
