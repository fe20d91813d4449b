/** The app's own files, as one release made them: kept whole, so that no page is missing when the connection is. */

/** Put in by the build: a name for this release, and its files. */
declare const __RELEASE__: string;
declare const __FILES__: readonly string[];

const PREFIX = "tintype-shell-";
const SHELL = PREFIX + __RELEASE__;
const PAGE = "/";
/** A page is asked for this long before the kept one is shown. */
const PATIENCE_MS = 3_000;

export async function keepShell(): Promise<void> {
  const shell = await caches.open(SHELL);
  await shell.addAll([PAGE, ...__FILES__].map((path) => new Request(path, { cache: "reload" })));
}

/** The release before this one stays: pages of it may be open and still fetch their parts. */
export async function discardOldShells(): Promise<void> {
  const shells = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== SHELL);
  await Promise.all(shells.slice(0, -1).map((name) => caches.delete(name)));
}

export function isShellFile(url: URL): boolean {
  return url.pathname.startsWith("/assets/") || __FILES__.includes(url.pathname);
}

export async function showShellFile(request: Request): Promise<Response> {
  return (await caches.match(request, { ignoreVary: true })) ?? fetch(request);
}

/** Every address of the app is the same page. */
export async function showPage(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (answer.status < 500) return answer;
  } catch {
    // No connection, or too slow a one: the kept page it is.
  }
  const shell = await caches.open(SHELL);
  return (await shell.match(PAGE, { ignoreVary: true })) ?? Response.error();
}
