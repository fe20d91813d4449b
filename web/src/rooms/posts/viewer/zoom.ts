/** Geometry of the viewer: fitting, zooming at a point, panning within the picture's edges. Pure; lengths in CSS pixels. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** How a picture is shown: enlarged by `scale`, its centre moved from the window's centre by `x` and `y`. */
export interface View extends Point {
  readonly scale: number;
}

/** What a view must stay within. */
export interface Bounds {
  readonly stage: Size;
  /** The picture as it fits the stage. */
  readonly fitted: Size;
  readonly maxScale: number;
}

export const FITTED: View = { scale: 1, x: 0, y: 0 };
/** A small picture can be enlarged this much all the same. */
const MIN_MAX_SCALE = 2;

/** The picture in the stage: whole, and not larger than it is stored. */
export function fitInto(stored: Size, stage: Size): Size {
  const scale = Math.min(1, stage.width / stored.width, stage.height / stored.height);
  return { width: stored.width * scale, height: stored.height * scale };
}

/** Zooming in ends where one stored pixel fills one CSS pixel. */
export function boundsOf(stored: Size, stage: Size): Bounds {
  const fitted = fitInto(stored, stage);
  return { stage, fitted, maxScale: Math.max(MIN_MAX_SCALE, stored.width / fitted.width) };
}

/** Enlarged to `scale`, while the picture stays put under the point (relative to the stage's centre). */
export function zoomAt(view: View, scale: number, at: Point, bounds: Bounds): View {
  const to = Math.min(bounds.maxScale, Math.max(1, scale));
  const by = to / view.scale;
  return within({ scale: to, x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by }, bounds);
}

/** Moved, but no further than the picture's edges. */
export function pan(view: View, dx: number, dy: number, bounds: Bounds): View {
  return within({ ...view, x: view.x + dx, y: view.y + dy }, bounds);
}

function within(view: View, { stage, fitted }: Bounds): View {
  const x = Math.max(0, (fitted.width * view.scale - stage.width) / 2);
  const y = Math.max(0, (fitted.height * view.scale - stage.height) / 2);
  return {
    scale: view.scale,
    x: Math.min(x, Math.max(-x, view.x)) + 0,
    y: Math.min(y, Math.max(-y, view.y)) + 0,
  };
}
