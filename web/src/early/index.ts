/**
 * Runs in the page itself, before the app has arrived: the chosen theme, the shape of the page for whoever is here, and the
 * first questions to the server, so that answers and program travel at the same time. As soon as the feed is there its
 * first picture is sent for. The build puts this into index.html; what it missed, the app does by itself.
 */
import { readPrefs, storedPrefs } from "../base/chosen";
import { locales, suitLocale } from "../base/i18n/locales";
import { csrfToken } from "../client/csrf";
import { type Answer, askEarly, firstAddresses } from "../client/early";
import { POST_SIZES, srcsetOf } from "../ui/srcset";

interface FirstPage {
  readonly posts: readonly {
    readonly media: readonly { readonly urls: Readonly<Record<string, string>> }[];
  }[];
}

const { theme, locale, feed } = readPrefs(storedPrefs());
const root = document.documentElement;
if (theme !== "auto") root.dataset["theme"] = theme;
root.dir = locales[locale === "auto" ? suitLocale(navigator.languages) : locale].dir;

function sendForPicture({ status, body }: Answer): void {
  if (status !== 200) return;
  const urls = (JSON.parse(body) as FirstPage).posts[0]?.media[0]?.urls;
  if (urls === undefined) return;
  const picture = new Image();
  picture.fetchPriority = "high";
  picture.sizes = POST_SIZES;
  picture.srcset = srcsetOf(urls);
}

if (csrfToken() !== null) {
  const isHome = location.pathname === "/";
  root.dataset["early"] = isHome ? "home" : "page";
  const [first] = firstAddresses(location.pathname, feed).map(askEarly);
  if (isHome) first?.then(sendForPicture).catch(() => {});
}
