/** The `srcset` and `sizes` of images; shared with the inline script (src/bootstrap). */

/** Smaller renditions are thumbnails and not offered to the browser. */
const MIN_WIDTH = 300;

/** `srcset` in ascending widths, from `{"640": url, …}`. */
export function srcsetOf(urls: Readonly<Record<string, string>>): string {
  return Object.entries(urls)
    .map(([width, url]) => ({ width: Number(width), url }))
    .filter(({ width }) => width >= MIN_WIDTH)
    .sort((a, b) => a.width - b.width)
    .map(({ width, url }) => `${url} ${width}w`)
    .join(", ");
}

/**
 * The `sizes` of a post's image. On phones it claims slightly less than the real width: a screen of 721 px then loads the 640 px
 * rendition, which looks the same and takes half the time; screens of 900 px and more still get 1080 px.
 */
export const POST_SIZES =
  "(min-width: 90rem) 720px, (min-width: 62rem) 600px, (min-width: 45rem) min(600px, calc(100vw - 8rem)), 88vw";

/** The same on the post's own page and in its overlay, where the picture takes what the comments leave. */
export const WHOLE_POST_SIZES =
  "(min-width: 62rem) calc(min(100vw, 110rem) - 30rem), (min-width: 45rem) min(600px, calc(100vw - 8rem)), 88vw";
