/** Decodes photos for previews, one after the other: ten full-size photos at once would exhaust a phone's memory. */

/** The width of the server's middle rendition: more pixels would not be seen. */
const LONGEST_SIDE = 1_080;

let last: Promise<unknown> = Promise.resolve();

/** The photo, upright, in sRGB and of at most 1080 px; rejects where the browser cannot decode the format. */
export function decodePhoto(blob: Blob): Promise<ImageBitmap> {
  const decoded = last.then(() => decode(blob));
  last = decoded.catch(() => undefined);
  return decoded;
}

async function decode(blob: Blob): Promise<ImageBitmap> {
  const whole = await createImageBitmap(blob);
  const small = await scale(whole, LONGEST_SIDE);
  if (small !== whole) whole.close();
  return small;
}

/** A copy whose longest side has at most so many pixels; the picture itself where it is small already. */
export async function scale(whole: ImageBitmap, longest: number): Promise<ImageBitmap> {
  const share = longest / Math.max(whole.width, whole.height);
  if (share >= 1) return whole;
  const resizeWidth = Math.max(1, Math.round(whole.width * share));
  const resizeHeight = Math.max(1, Math.round(whole.height * share));
  return createImageBitmap(whole, { resizeWidth, resizeHeight, resizeQuality: "high" });
}
