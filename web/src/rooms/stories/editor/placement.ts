/** Geometry of the story editor: fingers and keys move, turn and enlarge elements, which snap to guides. Pure. */
import type { Placement } from "../elements/types";

export interface Point {
  readonly x: number;
  readonly y: number;
}
export interface Size {
  readonly width: number;
  readonly height: number;
}
/** Lines that an element snapped to, as fractions of the canvas. */
export interface Guides {
  readonly x: number | null;
  readonly y: number | null;
}

export const NO_GUIDES: Guides = { x: null, y: null };
export const MIN_SCALE = 0.25;
export const MAX_SCALE = 4;
/** The margins that phones cover with their own controls. */
export const SAFE_X = 0.06;
export const SAFE_Y = 0.08;
const SNAP = 0.018;
const SNAP_DEGREES = 4;
const RIGHT_ANGLE_HALF = 45;

/** The placement after one or two fingers moved, in pixels of a canvas of this size. */
export function moved(
  start: Placement,
  from: readonly Point[],
  to: readonly Point[],
  canvas: Size,
): Placement {
  const before = middle(from);
  const after = middle(to);
  const placed = {
    ...start,
    x: start.x + (after.x - before.x) / canvas.width,
    y: start.y + (after.y - before.y) / canvas.height,
  };
  if (from.length < 2 || to.length < 2) return clamped(placed);
  const [wasLong, isLong] = [distance(from), distance(to)];
  return clamped({
    ...placed,
    scale: wasLong > 0 ? start.scale * (isLong / wasLong) : start.scale,
    rotation: start.rotation + angle(to) - angle(from),
  });
}

/** The placement when the handle at a corner is dragged: its distance from the middle enlarges, its direction turns. */
export function handled(start: Placement, from: Point, to: Point, centre: Point): Placement {
  return moved({ ...start }, [centre, from], [centre, to], {
    width: Number.MAX_VALUE,
    height: Number.MAX_VALUE,
  });
}

/** Within the canvas, the allowed sizes and half a turn in each direction. */
export function clamped(placement: Placement): Placement {
  return {
    x: between(placement.x, 0, 1),
    y: between(placement.y, 0, 1),
    scale: between(placement.scale, MIN_SCALE, MAX_SCALE),
    rotation: normalized(placement.rotation),
  };
}

/** Snaps the middle to the canvas's middle, edges to the safe area, and the turn to eighths. `half` is half its size. */
export function snapped(
  placement: Placement,
  half: Size,
): { readonly placement: Placement; readonly guides: Guides } {
  const x = snap(placement.x, [0.5, SAFE_X + half.width, 1 - SAFE_X - half.width], [0.5, SAFE_X, 1 - SAFE_X]);
  const y = snap(
    placement.y,
    [0.5, SAFE_Y + half.height, 1 - SAFE_Y - half.height],
    [0.5, SAFE_Y, 1 - SAFE_Y],
  );
  const eighth = Math.round(placement.rotation / RIGHT_ANGLE_HALF) * RIGHT_ANGLE_HALF;
  const isNear = Math.abs(placement.rotation - eighth) < SNAP_DEGREES;
  return {
    placement: { ...placement, x: x.at, y: y.at, rotation: isNear ? normalized(eighth) : placement.rotation },
    guides: { x: x.guide, y: y.guide },
  };
}

function snap(
  at: number,
  stops: readonly number[],
  lines: readonly number[],
): { at: number; guide: number | null } {
  for (const [index, stop] of stops.entries()) {
    if (stop > 0 && stop < 1 && Math.abs(at - stop) < SNAP) return { at: stop, guide: lines[index] ?? null };
  }
  return { at, guide: null };
}

function between(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

function normalized(degrees: number): number {
  const turned = ((((degrees + 180) % 360) + 360) % 360) - 180;
  return turned === -180 ? 180 : turned;
}

function middle(points: readonly Point[]): Point {
  const count = Math.max(1, points.length);
  const sum = points.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }), { x: 0, y: 0 });
  return { x: sum.x / count, y: sum.y / count };
}

function distance([first, second]: readonly Point[]): number {
  return first && second ? Math.hypot(second.x - first.x, second.y - first.y) : 0;
}

function angle([first, second]: readonly Point[]): number {
  return first && second ? (Math.atan2(second.y - first.y, second.x - first.x) * 180) / Math.PI : 0;
}
