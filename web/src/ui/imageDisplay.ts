/** How an image is displayed before it has loaded: its aspect ratio and its placeholder. */
import { thumbHashToRGBA } from "thumbhash";

interface Size {
  readonly width: number;
  readonly height: number;
}

const TALLEST = 9 / 16;
const WIDEST = 3;
/** A carousel of different shapes is at most this tall: a panorama in it still has a surround, not a desert. */
const TALLEST_MIXED = 4 / 5;
/** Shapes that differ by less look the same. */
const SAME = 0.01;

/** Width to height; 1 where the size is unknown. */
export function ratioOf({ width, height }: Size): number {
  return width > 0 && height > 0 ? width / height : 1;
}

/**
 * The shape of the frame that shows these pictures whole, one at a time. A single picture, or several of one shape, fill it; where
 * shapes differ, or are taller than 9:16 or wider than 3:1, a surround fills the rest.
 */
export function frameRatio(pictures: readonly Size[]): number {
  const ratios = pictures.map(ratioOf);
  const tallest = ratios.length > 0 ? Math.min(...ratios) : 1;
  const isMixed = ratios.some((ratio) => !isSameRatio(ratio, tallest));
  return Math.min(WIDEST, Math.max(isMixed ? TALLEST_MIXED : TALLEST, tallest));
}

export function isSameRatio(one: number, other: number): boolean {
  return Math.abs(one / other - 1) < SAME;
}

/** Decodes a ThumbHash to pixels; null when there is none or it is malformed. */
export function decodePlaceholder(base64: string | null): ImageData | null {
  if (!base64) return null;
  try {
    const text = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
    const { w, h, rgba } = thumbHashToRGBA(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
    return new ImageData(new Uint8ClampedArray(rgba), w, h);
  } catch {
    return null; // Best effort: a plain background is shown instead.
  }
}

/** Paints the decoded placeholder; leaves the canvas as it is when there is none. */
export function paintPlaceholder(canvas: HTMLCanvasElement, placeholder: string | null): void {
  const pixels = decodePlaceholder(placeholder);
  if (pixels === null) return;
  canvas.width = pixels.width;
  canvas.height = pixels.height;
  canvas.getContext("2d")?.putImageData(pixels, 0, 0);
}
