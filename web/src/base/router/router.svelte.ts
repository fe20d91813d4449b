/**
 * Moves between pages without leaving the document. Each page is a chunk of its own; the old page stays
 * until the new one has arrived, going back returns to where one had scrolled, and focus follows the page.
 * A page may be shown over another, with an address of its own: going back uncovers what is below, untouched.
 */
import { type Component, tick } from "svelte";
import { type Area, language } from "../i18n";
import { randomId } from "../random";
import { matchPath, type RouteParams } from "./match";

/** A page takes its route's parameters as properties. */
export type Page = Component<Record<string, string>>;

export interface Route {
  readonly pattern: string;
  readonly load: () => Promise<{ default: Component<never> }>;
  /** The areas of the catalogue that the page speaks, beyond the core. */
  readonly words?: readonly Area[];
  /** Fills the screen with nothing around it, also when it is shown over another page. */
  readonly isFullScreen?: boolean;
  /** Pages for members send guests to log in, and the login pages send members home. */
  readonly audience: "anyone" | "members" | "guests";
}

export interface Shown {
  readonly route: Route | null;
  readonly page: Page | null;
  readonly params: RouteParams;
  readonly path: string;
  readonly failure: unknown;
}

/** The page that a page shown over it belongs to. */
interface Below {
  readonly key: string;
  readonly path: string;
}

interface EntryState {
  readonly key: string;
  readonly below?: Below;
  /** How many entries of this site lie behind it. */
  readonly depth?: number;
}

export class Router {
  shown = $state.raw<Shown | null>(null);
  /** The page shown over `shown`, if any. */
  over = $state.raw<Shown | null>(null);
  path = $state.raw(location.pathname);
  isMoving = $state.raw(false);

  #routes: readonly Route[] = [];
  #key = "";
  #below: Below | null = null;
  #depth = 0;
  #turn = 0;
  #overTurn = 0;
  /** The browser has been asked to go back and has not done so yet. */
  #isLeaving = false;
  readonly #positions = new Map<string, number>();

  start(routes: readonly Route[]): () => void {
    this.#routes = routes;
    // After a reload there is nothing below any more: what was shown over a page is then the page.
    const { key, depth = 0 } = entryState(history.state);
    this.#key = key;
    this.#depth = depth;
    history.replaceState({ key, depth } satisfies EntryState, "");
    history.scrollRestoration = "manual";
    const back = (event: PopStateEvent) => void this.#onPop(event);
    addEventListener("popstate", back);
    void this.#show("stay");
    return () => removeEventListener("popstate", back);
  }

  /** The address changes and its page is shown; resolves when it is on screen. */
  async navigate(to: string, { replace = false } = {}): Promise<void> {
    this.#keepPosition();
    this.#below = null;
    this.#overTurn += 1; // What was still to be shown over the page that is left.
    if (!replace) this.#push(to);
    else history.replaceState({ key: this.#key, depth: this.#depth } satisfies EntryState, "", to);
    await this.#show("top");
  }

  /** The address's page is shown over the present one, which stays as it is. */
  async open(to: string): Promise<void> {
    if (this.shown === null) return this.navigate(to);
    this.#keepPosition();
    this.#below ??= { key: this.#key, path: this.path };
    this.#push(to);
    await this.#cover();
  }

  /** Where the visitor came from within this site, or home when they came from outside. Asking twice goes back once. */
  back(): void {
    if (this.#isLeaving) return;
    if (this.#depth === 0) return void this.navigate("/", { replace: true });
    this.#isLeaving = true;
    history.back();
  }

  #push(to: string): void {
    this.#isLeaving = false;
    this.#key = randomId();
    this.#depth += 1;
    const below = this.#below === null ? {} : { below: this.#below };
    history.pushState({ key: this.#key, depth: this.#depth, ...below } satisfies EntryState, "", to);
  }

  async #onPop(event: PopStateEvent): Promise<void> {
    this.#isLeaving = false;
    this.#keepPosition();
    const { key, below, depth = 0 } = entryState(event.state);
    const wasOn = this.#below?.key ?? this.#key;
    this.#key = key;
    this.#depth = depth;
    this.#below = below ?? null;
    const isSamePage = wasOn === (below?.key ?? key);
    if (below === undefined && isSamePage) this.#uncover();
    await Promise.all([isSamePage || this.#show("restore"), below && this.#cover()]);
  }

  #keepPosition(): void {
    this.#positions.set(this.#below?.key ?? this.#key, scrollY);
  }

  async #cover(): Promise<void> {
    const turn = ++this.#overTurn;
    const over = await this.#load(location.pathname);
    if (turn === this.#overTurn) this.over = over;
  }

  /** Also what is still on its way to be shown over the page is no longer wanted. */
  #uncover(): void {
    this.#overTurn += 1;
    this.over = null;
  }

  async #show(scroll: "stay" | "top" | "restore"): Promise<void> {
    const turn = ++this.#turn;
    this.path = this.#below?.path ?? location.pathname;
    this.isMoving = true;
    const shown = await this.#load(this.path);
    if (turn !== this.#turn) return; // A later navigation has overtaken this one.
    this.shown = shown;
    if (this.#below === null) this.#uncover();
    this.isMoving = false;
    await tick();
    if (scroll === "stay") return;
    scrollTo(0, scroll === "restore" ? (this.#positions.get(this.#below?.key ?? this.#key) ?? 0) : 0);
    focusPage();
  }

  async #load(path: string): Promise<Shown> {
    for (const route of this.#routes) {
      const params = matchPath(route.pattern, path);
      if (params !== null) return { route, params, path, ...(await loadPage(route)) };
    }
    return { route: null, params: {}, path, page: null, failure: null };
  }
}

async function loadPage(route: Route): Promise<Pick<Shown, "page" | "failure">> {
  try {
    // A route's pattern names exactly the properties its page asks for; the two stand side by side in routes.ts.
    const [page] = await Promise.all([route.load(), language.need(...(route.words ?? []))]);
    return { page: page.default as unknown as Page, failure: null };
  } catch (failure) {
    return { page: null, failure };
  }
}

/** Screen readers hear the new page's heading, and Tab goes on from there. */
function focusPage(): void {
  const main = document.querySelector("main");
  const heading = main?.querySelector<HTMLElement>("h1") ?? main;
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Only we write the entries' state, but an entry made by the browser has none. */
function entryState(state: unknown): EntryState {
  const isOurs = typeof state === "object" && state !== null && "key" in state;
  return isOurs ? (state as EntryState) : { key: randomId() };
}

export const router = new Router();
