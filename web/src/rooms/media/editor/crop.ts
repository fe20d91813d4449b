/** The arithmetic of the crop frame, in fractions of the picture; pure. `ratio` is width to height in pixels. */
import type { Crop } from "../looks/edit";

export const WHOLE: Crop = { x: 0, y: 0, width: 1, height: 1 };
export const SMALLEST = 0.1;

export type Corner = "nw" | "ne" | "sw" | "se";

export const shapes = ["free", "original", "square", "portrait", "wide"] as const;
export type Shape = (typeof shapes)[number];

/** The proportions a shape holds in a picture of these proportions; null leaves them free. */
export function ratioOf(shape: Shape, pictureRatio: number): number | null {
  if (shape === "free") return null;
  if (shape === "original") return pictureRatio;
  if (shape === "square") return 1;
  return shape === "portrait" ? 4 / 5 : 16 / 9;
}

/** The largest part of these proportions, in the middle. */
export function largest(ratio: number | null, pictureRatio: number): Crop {
  if (ratio === null) return WHOLE;
  const share = ratio / pictureRatio;
  const width = share > 1 ? 1 : share;
  const height = share > 1 ? 1 / share : 1;
  return { x: (1 - width) / 2, y: (1 - height) / 2, width, height };
}

/** The same part elsewhere, as far as the picture reaches. */
export function move(crop: Crop, dx: number, dy: number): Crop {
  return { ...crop, x: clamp(crop.x + dx, 0, 1 - crop.width), y: clamp(crop.y + dy, 0, 1 - crop.height) };
}

/** One corner pulled; the opposite one stays, and so do the proportions where they are held. */
export function pull(
  crop: Crop,
  corner: Corner,
  dx: number,
  dy: number,
  ratio: number | null,
  pictureRatio: number,
): Crop {
  const isLeft = corner.endsWith("w");
  const isTop = corner.startsWith("n");
  const right = crop.x + crop.width;
  const bottom = crop.y + crop.height;
  const mostWidth = isLeft ? right : 1 - crop.x;
  const mostHeight = isTop ? bottom : 1 - crop.y;
  let width = clamp(crop.width + (isLeft ? -dx : dx), SMALLEST, mostWidth);
  let height = clamp(crop.height + (isTop ? -dy : dy), SMALLEST, mostHeight);
  if (ratio !== null) [width, height] = hold(width, mostWidth, mostHeight, ratio / pictureRatio);
  return { x: isLeft ? right - width : crop.x, y: isTop ? bottom - height : crop.y, width, height };
}

/** The part as it lies when left and right have changed places. */
export function mirror(crop: Crop): Crop {
  return { ...crop, x: clamp(1 - crop.x - crop.width, 0, 1 - crop.width) };
}

function hold(
  wanted: number,
  mostWidth: number,
  mostHeight: number,
  share: number,
): [width: number, height: number] {
  const least = Math.max(SMALLEST, SMALLEST * share);
  const most = Math.min(mostWidth, mostHeight * share);
  const width = clamp(wanted, Math.min(least, most), most);
  return [width, width / share];
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), Math.max(least, most));
}
