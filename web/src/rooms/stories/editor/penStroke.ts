/** A line while it is drawn: points close to each other are left out, so that a drawing stays small. Pure. */
import { COORDINATES } from "../elements/strokePath";
import type { Stroke } from "../elements/types";

/** As the server allows. */
const MAX_NUMBERS = 1_000;
/** Closer points are not seen, in ten-thousandths of the canvas. */
const CLOSE = 45;

export function beginStroke(colour: string, width: number, x: number, y: number): Stroke {
  return { colour, width, points: [coordinate(x), coordinate(y)] };
}

/** The line on to another point of the canvas; full or unmoved it stays as it is. */
export function continueStroke(stroke: Stroke, x: number, y: number): Stroke {
  const [lastX = 0, lastY = 0] = stroke.points.slice(-2);
  const [nextX, nextY] = [coordinate(x), coordinate(y)];
  if (stroke.points.length >= MAX_NUMBERS || Math.hypot(nextX - lastX, nextY - lastY) < CLOSE) return stroke;
  return { ...stroke, points: [...stroke.points, nextX, nextY] };
}

function coordinate(part: number): number {
  return Math.round(Math.min(1, Math.max(0, part)) * COORDINATES);
}
