/** The pen by keys: arrows move it, Space or Enter lowers and lifts it, Escape drops the unfinished line. Pure. */
import type { Stroke } from "../elements/types";
import { beginStroke, continueStroke } from "./penStroke";
import type { Pen } from "./storyEditor.svelte";

const STEP = 0.02;
const LARGE_STEP = 0.1;

/** Where the pen is, as fractions of the canvas, and the line it is drawing while it is down. */
export interface KeyPen {
  readonly x: number;
  readonly y: number;
  readonly stroke: Stroke | null;
}

export const RESTING: KeyPen = { x: 0.5, y: 0.5, stroke: null };

/** The pen after a key was pressed, with the line that was finished by it; null for keys that mean something else. */
export function penAfterKey(
  key: string,
  isShifted: boolean,
  at: KeyPen,
  { colour, width }: Pen,
): { readonly pen: KeyPen; readonly finished: Stroke | null } | null {
  if (key === " " || key === "Enter") {
    const stroke = at.stroke === null ? beginStroke(colour, width, at.x, at.y) : null;
    return { pen: { ...at, stroke }, finished: at.stroke };
  }
  if (key === "Escape" && at.stroke !== null) return { pen: { ...at, stroke: null }, finished: null };
  const step = isShifted ? LARGE_STEP : STEP;
  const moves: Record<string, readonly [number, number]> = {
    ArrowLeft: [-step, 0],
    ArrowRight: [step, 0],
    ArrowUp: [0, -step],
    ArrowDown: [0, step],
  };
  const move = moves[key];
  if (move === undefined) return null;
  const [x, y] = [inside(at.x + move[0]), inside(at.y + move[1])];
  return { pen: { x, y, stroke: at.stroke && continueStroke(at.stroke, x, y) }, finished: null };
}

function inside(part: number): number {
  return Math.min(1, Math.max(0, part));
}
