/** Which of a picture's renditions a browser may choose from, and its placeholder as pixels. */
import { thumbHashToRGBA } from "thumbhash";

/** The smallest rendition is a square-ish thumbnail; below this width it only serves as one. */
const NARROWEST = 300;

/** `srcset` in ascending widths, from `{"640": url, …}`. */
export function srcsetOf(urls: Readonly<Record<string, string>>): string {
  return Object.entries(urls)
    .map(([width, url]) => ({ width: Number(width), url }))
    .filter(({ width }) => width >= NARROWEST)
    .sort((a, b) => a.width - b.width)
    .map(({ width, url }) => `${url} ${width}w`)
    .join(", ");
}

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
