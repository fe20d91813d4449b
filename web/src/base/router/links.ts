/**
 * Plain `<a href>` everywhere: one listener turns those that stay on this site into navigation without a reload.
 * With `data-over` the page is shown over the present one.
 */
import type { Router } from "./router.svelte";

export function followLinks(router: Router): (event: MouseEvent) => void {
  return (event) => {
    const url = internalTarget(event);
    if (url === null) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    event.preventDefault();
    const isHere = url.pathname === location.pathname && url.search === location.search;
    if (isHere) scrollTo({ top: 0, behavior: "smooth" });
    else if (link?.dataset["over"] !== undefined) void router.open(url.pathname + url.search);
    else void router.navigate(url.pathname + url.search);
  };
}

/** Where an ordinary click on a link of ours leads; null leaves the click to the browser. */
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
