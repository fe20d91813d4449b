/**
 * The inline script of index.html (the build puts it there). Before the app has loaded it applies the theme, shows a skeleton
 * and requests the first API responses, so that data and program load in parallel; as soon as the feed is there it requests
 * the first image. Whatever fails here, the app does again.
 */

import { isDisplayFontCached } from "../base/displayFont";
import { locales, negotiateLocale } from "../base/i18n/locales";
import { readPrefs, storedPrefs } from "../base/storedPrefs";
import { csrfToken } from "../client/csrf";
import { prefetch, prefetchUrls, type RawResponse } from "../client/prefetch";
import { POST_SIZES, srcsetOf } from "../ui/srcset";

interface FirstPage {
  readonly posts: readonly {
    readonly media: readonly { readonly urls: Readonly<Record<string, string>> }[];
  }[];
}

/** The chunk with the table of routes; the build fills it in. */
declare const ROUTES_FILE: string;

const { theme, locale, feed } = readPrefs(storedPrefs());
const root = document.documentElement;
if (theme !== "auto") root.dataset["theme"] = theme;
root.dir = locales[locale === "auto" ? negotiateLocale(navigator.languages) : locale].dir;

function preloadFirstImage({ status, body }: RawResponse): void {
  if (status !== 200) return;
  const urls = (JSON.parse(body) as FirstPage).posts[0]?.media[0]?.urls;
  if (urls === undefined) return;
  const image = new Image();
  image.fetchPriority = "high";
  image.sizes = POST_SIZES;
  image.srcset = srcsetOf(urls);
}

const isHome = location.pathname === "/";
if (!isHome) {
  const link = document.createElement("link");
  link.rel = "modulepreload";
  link.href = ROUTES_FILE;
  document.head.append(link);
}

if (csrfToken() !== null) {
  root.dataset["skeleton"] = isHome ? "home" : "page";
  if (isHome && !isDisplayFontCached()) root.dataset["displayFont"] = "later";
  const [first] = prefetchUrls(location.pathname, feed).map(prefetch);
  if (isHome) first?.then(preloadFirstImage).catch(() => {});
}
