/** How a picture is shown before and while it arrives. */
import { thumbHashToRGBA } from "thumbhash";

/** Portraits up to 4:5 and landscapes up to 1.91:1 are shown whole; beyond that the feed would be all one picture. */
export function shownRatio(width: number, height: number): number {
  const ratio = width > 0 && height > 0 ? width / height : 1;
  return Math.min(1.91, Math.max(0.8, ratio));
}

/** The blurred picture that some twenty bytes describe, or null when they do not describe one. */
export function placeholderPixels(base64: string | null): ImageData | null {
  if (!base64) return null;
  try {
    const text = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
    const { w, h, rgba } = thumbHashToRGBA(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
    return new ImageData(new Uint8ClampedArray(rgba), w, h);
  } catch {
    return null; // A placeholder is a courtesy: a damaged one leaves the plain plate.
  }
}
