/** What the keys do with a selected element. Pure. */
import type { Placement } from "../elements/types";
import { clamped } from "./placement";

const STEP = 0.01;
const LARGE_STEP = 0.05;
const SCALE_STEP = 1.1;
const TURN_DEGREES = 5;

/** The placement after a key was pressed; null for keys that mean something else. */
export function placementAfterKey(key: string, isShifted: boolean, at: Placement): Placement | null {
  const step = isShifted ? LARGE_STEP : STEP;
  const changes: Record<string, Partial<Placement>> = {
    ArrowLeft: { x: at.x - step },
    ArrowRight: { x: at.x + step },
    ArrowUp: { y: at.y - step },
    ArrowDown: { y: at.y + step },
    "+": { scale: at.scale * SCALE_STEP },
    "=": { scale: at.scale * SCALE_STEP },
    "-": { scale: at.scale / SCALE_STEP },
    "[": { rotation: at.rotation - TURN_DEGREES },
    "]": { rotation: at.rotation + TURN_DEGREES },
  };
  const change = changes[key];
  return change === undefined ? null : clamped({ ...at, ...change });
}
