/** Which of a picture's renditions a browser may choose from; shared with the script in the page (src/early). */

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

/**
 * How wide a post's picture is on screen. On phones a little less is said than is true: 640 px then serve a screen of 721, where
 * nobody sees the difference and everybody waits half as long; screens of 900 and more still get 1080.
 */
export const POST_SIZES = "(min-width: 62rem) 600px, (min-width: 45rem) min(600px, calc(100vw - 8rem)), 88vw";
