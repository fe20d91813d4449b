/**
 * The font of headings at a member's first visit. It is as large as three photographs on a phone, so home does without it until
 * it is cached: `data-display-font="later"` on the root element selects the fallback for as long as the page is open.
 */
import { readItem, writeItem } from "./webStorage";

const CACHED_KEY = "tintype.displayFont";

export const isDisplayFontCached = (): boolean => readItem(CACHED_KEY) !== null;

/** Downloads the font for the next visit; call it when nothing else is waited for. */
export async function cacheDisplayFont(): Promise<void> {
  if (isDisplayFontCached() || document.fonts === undefined) return;
  const loaded = await document.fonts.load("1em Besley");
  if (loaded.length > 0) writeItem(CACHED_KEY, "1");
}
