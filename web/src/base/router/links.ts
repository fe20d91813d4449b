/**
 * Turns clicks on ordinary `<a href>` links within this site into client-side navigation: one listener for the whole document.
 * A link with `data-overlay` opens its page as an overlay.
 */
import type { Router } from "./router.svelte";

export function handleLinkClicks(router: Router): (event: MouseEvent) => void {
  return (event) => {
    const url = internalTarget(event);
    if (url === null) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    event.preventDefault();
    const isHere = url.pathname === location.pathname && url.search === location.search;
    if (isHere) scrollTo({ top: 0, behavior: "smooth" });
    else if (link?.dataset["overlay"] !== undefined) void router.openOverlay(url.pathname + url.search);
    else void router.navigate(url.pathname + url.search);
  };
}

/** The target of a plain left click on an internal link; null leaves the click to the browser. */
export function internalTarget(event: MouseEvent): URL | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.hasAttribute("download"))
    return null;
  const url = new URL(link.href, location.href);
  if (url.origin !== location.origin || url.pathname.startsWith("/api/")) return null;
  return isFragment(url) ? null : url;
}

function isFragment(url: URL): boolean {
  return url.hash !== "" && url.pathname === location.pathname && url.search === location.search;
}
