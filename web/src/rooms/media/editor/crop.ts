/** Geometry of the crop frame, in fractions of the picture; pure. `ratio` is width to height in pixels. */
import type { Crop } from "../looks/edit";

export const WHOLE: Crop = { x: 0, y: 0, width: 1, height: 1 };
export const SMALLEST = 0.1;

export type Corner = "nw" | "ne" | "sw" | "se";

export const shapes = ["free", "original", "square", "portrait", "tall", "wide", "panorama"] as const;
export type Shape = (typeof shapes)[number];

const RATIOS = { square: 1, portrait: 4 / 5, tall: 9 / 16, wide: 16 / 9, panorama: 3 } as const;

/** The aspect ratio that a shape enforces; null for a free crop. */
export function ratioOf(shape: Shape, pictureRatio: number): number | null {
  if (shape === "free") return null;
  return shape === "original" ? pictureRatio : RATIOS[shape];
}

/** The largest centred crop of this ratio. */
export function largest(ratio: number | null, pictureRatio: number): Crop {
  if (ratio === null) return WHOLE;
  const share = ratio / pictureRatio;
  const width = share > 1 ? 1 : share;
  const height = share > 1 ? 1 / share : 1;
  return { x: (1 - width) / 2, y: (1 - height) / 2, width, height };
}

/** Moves the crop, limited to the picture. */
export function move(crop: Crop, dx: number, dy: number): Crop {
  return { ...crop, x: clamp(crop.x + dx, 0, 1 - crop.width), y: clamp(crop.y + dy, 0, 1 - crop.height) };
}

/** Drags one corner; the opposite corner stays, and so does the ratio where one is enforced. */
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
  const maxWidth = isLeft ? right : 1 - crop.x;
  const maxHeight = isTop ? bottom : 1 - crop.y;
  let width = clamp(crop.width + (isLeft ? -dx : dx), SMALLEST, maxWidth);
  let height = clamp(crop.height + (isTop ? -dy : dy), SMALLEST, maxHeight);
  if (ratio !== null) [width, height] = holdRatio(width, maxWidth, maxHeight, ratio / pictureRatio);
  return { x: isLeft ? right - width : crop.x, y: isTop ? bottom - height : crop.y, width, height };
}

/** The crop of the mirrored picture. */
export function mirror(crop: Crop): Crop {
  return { ...crop, x: clamp(1 - crop.x - crop.width, 0, 1 - crop.width) };
}

function holdRatio(
  desired: number,
  maxWidth: number,
  maxHeight: number,
  share: number,
): [width: number, height: number] {
  const min = Math.max(SMALLEST, SMALLEST * share);
  const max = Math.min(maxWidth, maxHeight * share);
  const width = clamp(desired, Math.min(min, max), max);
  return [width, width / share];
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), Math.max(min, max));
}
