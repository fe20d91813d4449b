/** The app shell: all files of one release, precached so that every page works offline. */

/** Defined by the build: the id of this release and its files. */
declare const __RELEASE__: string;
declare const __FILES__: readonly string[];

const PREFIX = "tintype-shell-";
const SHELL = PREFIX + __RELEASE__;
const PAGE = "/";
/** How long a navigation waits for the network before it falls back to the cached page. */
const NETWORK_TIMEOUT_MS = 3_000;

export async function precacheShell(): Promise<void> {
  const shell = await caches.open(SHELL);
  await shell.addAll([PAGE, ...__FILES__].map((path) => new Request(path, { cache: "reload" })));
}

/** Deletes all but the previous release: its pages may still be open and load their chunks. */
export async function deleteOldShells(): Promise<void> {
  const shells = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== SHELL);
  await Promise.all(shells.slice(0, -1).map((name) => caches.delete(name)));
}

export function isShellFile(url: URL): boolean {
  return url.pathname.startsWith("/assets/") || __FILES__.includes(url.pathname);
}

export async function respondWithShellFile(request: Request): Promise<Response> {
  return (await caches.match(request, { ignoreVary: true })) ?? fetch(request);
}

/** Network first, then the cached page; every URL of the app is the same HTML. */
export async function respondWithPage(request: Request): Promise<Response> {
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(NETWORK_TIMEOUT_MS) });
    if (response.status < 500) return response;
  } catch {
    // No connection, or too slow: fall back to the cached page.
  }
  const shell = await caches.open(SHELL);
  return (await shell.match(PAGE, { ignoreVary: true })) ?? Response.error();
}
