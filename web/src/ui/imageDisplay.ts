/** How an image is displayed before it has loaded: its aspect ratio and its placeholder. */
import { thumbHashToRGBA } from "thumbhash";

/** The displayed ratio: images between 4:5 and 1.91:1 are shown whole, others are cropped to the nearest of them. */
export function displayRatio(width: number, height: number): number {
  const ratio = width > 0 && height > 0 ? width / height : 1;
  return Math.min(1.91, Math.max(0.8, ratio));
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
