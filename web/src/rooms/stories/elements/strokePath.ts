/** The SVG path of a drawn line. Pure. */

export const VIEW_WIDTH = 900;
export const VIEW_HEIGHT = 1_600;
/** Coordinates are ten-thousandths of the canvas. */
export const COORDINATES = 10_000;

/** A smooth path through the middles between the points; a single point becomes a dot. */
export function strokePath(points: readonly number[]): string {
  const at = (index: number): readonly [number, number] => [
    round(((points[2 * index] ?? 0) / COORDINATES) * VIEW_WIDTH),
    round(((points[2 * index + 1] ?? 0) / COORDINATES) * VIEW_HEIGHT),
  ];
  const count = points.length / 2;
  const [x, y] = at(0);
  if (count === 1) return `M${x} ${y}h0.1`;
  let path = `M${x} ${y}`;
  for (let index = 1; index < count - 1; index++) {
    const [fromX, fromY] = at(index);
    const [toX, toY] = at(index + 1);
    path += `Q${fromX} ${fromY} ${round((fromX + toX) / 2)} ${round((fromY + toY) / 2)}`;
  }
  const [endX, endY] = at(count - 1);
  return `${path}L${endX} ${endY}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
