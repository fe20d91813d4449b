/** Which part of the world a small map shows, in degrees; north is up, so `y` is minus the latitude. */

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

export interface View {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The coastlines are coarse: nearer than this there is nothing to see. */
const MIN_WIDTH = 50;
const MARGIN = 1.25;
const WORLD: View = { x: -180, y: -84, width: 360, height: 144 };

/** The smallest view of this shape (width by height) that shows all points with a margin; the whole world without any. */
export function viewOf(points: readonly Point[], ratio: number): View {
  if (points.length === 0) return WORLD;
  const xs = points.map(({ longitude }) => longitude);
  const ys = points.map(({ latitude }) => -latitude);
  const [west, east, north, south] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const width = Math.min(360, Math.max(MIN_WIDTH, (east - west) * MARGIN, (south - north) * MARGIN * ratio));
  const height = width / ratio;
  const x = clamp((west + east) / 2 - width / 2, -180, 180 - width);
  const y = clamp((north + south) / 2 - height / 2, -90, 90 - height);
  return { x, y, width, height };
}

/** The point nearest to a position of the view, given as fractions of its width and height; null where none is near. */
export function nearest<P extends Point>(
  points: readonly P[],
  view: View,
  at: { x: number; y: number },
  reach: number,
): P | null {
  const measured = points.map((point) => {
    const dx = (point.longitude - view.x) / view.width - at.x;
    const dy = ((-point.latitude - view.y) / view.height - at.y) * (view.height / view.width);
    return { point, distance: Math.hypot(dx, dy) };
  });
  const [first] = measured.sort((a, b) => a.distance - b.distance);
  return first && first.distance <= reach ? first.point : null;
}

const clamp = (value: number, low: number, high: number) =>
  Math.min(Math.max(value, low), Math.max(low, high));
