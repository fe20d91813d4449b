/**
 * Client-side router over the History API. Each page is a lazily loaded chunk; the old page stays until the new one has
 * loaded, going back restores the scroll position, and focus moves to the new page's heading.
 * A page may also open as an overlay with its own URL: going back closes it and leaves the page below untouched.
 */
import { type Component, tick } from "svelte";
import { language, type Namespace } from "../i18n";
import { randomId } from "../random";
import { matchPath, type RouteParams } from "./paths";

/** A page receives its route's parameters as props. */
export type Page = Component<Record<string, string>>;

export interface Route {
  readonly pattern: string;
  readonly load: () => Promise<{ default: Component<never> }>;
  /** The message namespaces that the page needs besides `core`. */
  readonly namespaces?: readonly Namespace[];
  /** Fills the screen without the app shell, also as an overlay. */
  readonly isFullScreen?: boolean;
  /** Nobody else learns that the page exists. */
  readonly isForModerators?: boolean;
  /** Pictures that use the whole width of a large window. */
  readonly isWide?: boolean;
  /** Pages for members redirect guests to the login; pages for guests redirect members home. */
  readonly audience: "anyone" | "members" | "guests";
}

/** What an address leads to: a loaded page, no route at all, or a chunk that failed to load. */
export interface ResolvedRoute {
  readonly route: Route | null;
  readonly page: Page | null;
  readonly params: RouteParams;
  readonly path: string;
  readonly failure: unknown;
}

/** The page underneath an overlay. */
interface BasePage {
  readonly key: string;
  readonly path: string;
}

interface HistoryState {
  readonly key: string;
  readonly below?: BasePage;
  /** How many history entries of this site precede it. */
  readonly depth?: number;
}

export class Router {
  current = $state.raw<ResolvedRoute | null>(null);
  /** The page shown on top of `current`, if any. */
  overlay = $state.raw<ResolvedRoute | null>(null);
  path = $state.raw(location.pathname);
  isNavigating = $state.raw(false);

  #routes: readonly Route[] = [];
  #loadOthers: () => Promise<readonly Route[]> = async () => [];
  #key = "";
  #base: BasePage | null = null;
  #depth = 0;
  /** Numbers of the latest navigation and overlay; a result that carries an older one is dropped. */
  #navigation = 0;
  #overlayOpening = 0;
  /** Closes what lies on top of everything (the viewer, a sheet), if something does. */
  #layer: (() => void) | null = null;
  /** `history.back()` was called and its popstate event has not arrived yet. */
  #isGoingBack = false;
  readonly #scrollPositions = new Map<string, number>();

  /** Shows the page of the current address. An address that none of the routes matches is looked up in those loaded by `loadOthers`. */
  start(routes: readonly Route[], loadOthers = this.#loadOthers): () => void {
    this.#routes = routes;
    this.#loadOthers = loadOthers;
    // After a reload there is no page below an overlay any more: the overlay's URL becomes the page.
    const { key, depth = 0 } = historyState(history.state);
    this.#key = key;
    this.#depth = depth;
    history.replaceState({ key, depth } satisfies HistoryState, "");
    history.scrollRestoration = "manual";
    const onPop = (event: PopStateEvent) => void this.#onPop(event);
    addEventListener("popstate", onPop);
    void this.#show("stay");
    return () => removeEventListener("popstate", onPop);
  }

  /** Goes to the address; resolves when its page is on screen. */
  async navigate(to: string, { replace = false } = {}): Promise<void> {
    this.#saveScroll();
    this.#base = null;
    this.#overlayOpening += 1; // Drops an overlay that is still loading.
    if (!replace) this.#push(to);
    else this.#closeLayer();
    if (replace) history.replaceState({ key: this.#key, depth: this.#depth } satisfies HistoryState, "", to);
    await this.#show("top");
  }

  /** Shows the address's page as an overlay; the current page stays mounted below it. */
  async openOverlay(to: string): Promise<void> {
    if (this.current === null) return this.navigate(to);
    this.#saveScroll();
    this.#base ??= { key: this.#key, path: this.path };
    this.#push(to);
    await this.#loadOverlay();
  }

  /** Shows another page in the overlay, in place of the one it has: going back closes it, however many were shown. */
  async replaceOverlay(to: string): Promise<void> {
    this.replaceAddress(to);
    await this.#loadOverlay();
  }

  /** Changes the address of what is shown, and nothing else. */
  replaceAddress(to: string): void {
    history.replaceState(history.state, "", to);
    if (this.#base === null) this.path = location.pathname;
  }

  /** Adds a history entry for something shown on top of the page: going back calls `close`, and changes nothing else. */
  openLayer(close: () => void): void {
    this.#closeLayer();
    this.#layer = close;
    this.#isGoingBack = false;
    this.#depth += 1;
    const state: HistoryState = { ...historyState(history.state), key: this.#key, depth: this.#depth };
    history.pushState(state, "");
  }

  #closeLayer(): boolean {
    const close = this.#layer;
    this.#layer = null;
    close?.();
    return close !== null;
  }

  /** To the previous page of this site, or home when the visitor came from elsewhere. Calling it twice goes back once. */
  back(): void {
    if (this.#isGoingBack) return;
    if (this.#depth === 0) return void this.navigate("/", { replace: true });
    this.#isGoingBack = true;
    history.back();
  }

  /** Adds an entry; one that belonged to a layer is replaced, so that going back does not pass the same page twice. */
  #push(to: string): void {
    const wasLayer = this.#closeLayer();
    this.#isGoingBack = false;
    this.#key = randomId();
    const below = this.#base === null ? {} : { below: this.#base };
    if (!wasLayer) this.#depth += 1;
    const state: HistoryState = { key: this.#key, depth: this.#depth, ...below };
    if (wasLayer) history.replaceState(state, "", to);
    else history.pushState(state, "", to);
  }

  async #onPop(event: PopStateEvent): Promise<void> {
    this.#isGoingBack = false;
    const { key, below, depth = 0 } = historyState(event.state);
    if (this.#closeLayer() && key === this.#key) {
      this.#depth = depth;
      return;
    }
    this.#saveScroll();
    const previous = this.#base?.key ?? this.#key;
    this.#key = key;
    this.#depth = depth;
    this.#base = below ?? null;
    const isSamePage = previous === (below?.key ?? key);
    if (below === undefined && isSamePage) this.#closeOverlay();
    await Promise.all([isSamePage || this.#show("restore"), below && this.#loadOverlay()]);
  }

  #saveScroll(): void {
    this.#scrollPositions.set(this.#base?.key ?? this.#key, scrollY);
  }

  async #loadOverlay(): Promise<void> {
    const opening = ++this.#overlayOpening;
    const overlay = await this.#load(location.pathname);
    if (opening === this.#overlayOpening) this.overlay = overlay;
  }

  /** Closes the overlay, and drops one that is still loading. */
  #closeOverlay(): void {
    this.#overlayOpening += 1;
    this.overlay = null;
  }

  async #show(scroll: "stay" | "top" | "restore"): Promise<void> {
    const navigation = ++this.#navigation;
    this.path = this.#base?.path ?? location.pathname;
    this.isNavigating = true;
    const resolved = await this.#load(this.path);
    if (navigation !== this.#navigation) return; // A later navigation overtook this one.
    this.current = resolved;
    if (this.#base === null) this.#closeOverlay();
    this.isNavigating = false;
    await tick();
    if (scroll === "stay") return;
    scrollTo(0, scroll === "restore" ? (this.#scrollPositions.get(this.#base?.key ?? this.#key) ?? 0) : 0);
    focusPage();
  }

  async #load(path: string): Promise<ResolvedRoute> {
    const missing = { route: null, params: {}, path, page: null };
    try {
      const found = matchRoute(this.#routes, path) ?? matchRoute(await this.#loadOthers(), path);
      return found === null
        ? { ...missing, failure: null }
        : { ...found, path, ...(await loadPage(found.route)) };
    } catch (failure) {
      return { ...missing, failure };
    }
  }
}

function matchRoute(routes: readonly Route[], path: string): { route: Route; params: RouteParams } | null {
  for (const route of routes) {
    const params = matchPath(route.pattern, path);
    if (params !== null) return { route, params };
  }
  return null;
}

async function loadPage(route: Route): Promise<Pick<ResolvedRoute, "page" | "failure">> {
  try {
    // A route's pattern names exactly the props of its page; both are listed in routes.ts.
    const [page] = await Promise.all([route.load(), language.loadNamespaces(...(route.namespaces ?? []))]);
    return { page: page.default as unknown as Page, failure: null };
  } catch (failure) {
    return { page: null, failure };
  }
}

/** Moves focus to the new page's heading: screen readers announce it, and Tab continues from there. */
function focusPage(): void {
  const main = document.querySelector("main");
  const heading = main?.querySelector<HTMLElement>("h1") ?? main;
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Our state of a history entry; entries that the browser created have none. */
function historyState(state: unknown): HistoryState {
  const isOurs = typeof state === "object" && state !== null && "key" in state;
  return isOurs ? (state as HistoryState) : { key: randomId() };
}

export const router = new Router();
