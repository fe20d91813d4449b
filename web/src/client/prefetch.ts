/**
 * API responses requested by the inline script (src/bootstrap) before the app has loaded, and handed to the app.
 * Script and app must use the same URLs; a response that is never taken costs one request and nothing else.
 */

export interface RawResponse {
  readonly status: number;
  readonly body: string;
}

declare global {
  interface Window {
    tintypePrefetched?: Map<string, Promise<RawResponse>>;
  }
}

/** A prefetched response that is older than this is requested again. */
const MAX_AGE_MS = 60_000;
const TIMEOUT_MS = 20_000;

export const FEED_PAGE = 12;

/** The URLs to prefetch for a page, most urgent first. */
export function prefetchUrls(path: string, mode: string): string[] {
  const me = "/api/v1/accounts/me";
  return path === "/" ? [`/api/v1/feed?mode=${mode}&limit=${FEED_PAGE}`, me, "/api/v1/stories/feed"] : [me];
}

/** All but the first are fetched at a low priority: the first image depends on the first alone. */
export function prefetch(url: string, position = 0): Promise<RawResponse> {
  window.tintypePrefetched ??= new Map();
  const response = fetch(url, {
    credentials: "same-origin",
    headers: { Accept: "application/json" },
    priority: position === 0 ? "high" : "low",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).then(async (answer) => ({ status: answer.status, body: await answer.text() }));
  response.catch(() => {}); // Reported to whoever takes the response.
  window.tintypePrefetched.set(url, response);
  return response;
}

/** The prefetched response for this URL, once; null when there is none or it is too old. */
export function takePrefetched(url: string): Promise<RawResponse> | null {
  const response = window.tintypePrefetched?.get(url);
  window.tintypePrefetched?.delete(url);
  return response === undefined || performance.now() > MAX_AGE_MS ? null : response.then(inNewTask);
}

/** The response may be there already; rendering it must not lengthen the task that mounts the app. */
function inNewTask(response: RawResponse): Promise<RawResponse> {
  return new Promise((resolve) => setTimeout(resolve, 0, response));
}

/** Drops all prefetched responses: a write may have made them stale. */
export function clearPrefetched(): void {
  window.tintypePrefetched?.clear();
}
