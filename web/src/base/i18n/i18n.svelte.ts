/** The current language. Components that call `t` re-render when it changes. */
import { formatLocale, type LocaleCode, locales } from "./locales";
import {
  type ArgsOf,
  core,
  loadMessages,
  type MessageKey,
  type Messages,
  type Namespace,
} from "./namespaces";
import { render, renderAgo, renderCount, renderMoment, renderSize, renderWait } from "./render";

class Language {
  code = $state.raw<LocaleCode>("en");
  /** The language with its region, for dates and numbers. */
  readonly tag = $derived(formatLocale(this.code, navigator.languages));
  catalogue = $state.raw<Messages>(core);
  readonly #loaded = new Set<Namespace>();
  #requested: LocaleCode = "en";
  /** The clock for relative times: one tick a minute for the whole app instead of a timer per post. */
  now = $state.raw(new Date());

  /** Switches the app, and the document's language and direction, to `code`. */
  async use(code: LocaleCode): Promise<void> {
    this.#requested = code;
    let namespaces: (Namespace | "core")[] = [];
    let messages: Messages[] = [];
    // A page may add namespaces while these load; they are needed in the new language too.
    while (namespaces.length < this.#loaded.size + 1) {
      namespaces = ["core", ...this.#loaded];
      messages = await Promise.all(namespaces.map((namespace) => loadMessages(namespace, code)));
    }
    if (this.#requested !== code) return; // A later switch overtook this one.
    this.catalogue = Object.assign({}, ...messages);
    this.code = code;
    document.documentElement.lang = code;
    document.documentElement.dir = locales[code].dir;
  }

  /** Resolves once the messages of these namespaces are loaded; pages await it before they are shown. */
  async loadNamespaces(...namespaces: readonly Namespace[]): Promise<void> {
    const missing = namespaces.filter((namespace) => !this.#loaded.has(namespace));
    if (missing.length === 0) return;
    const code = this.code;
    const messages = await Promise.all(missing.map((namespace) => loadMessages(namespace, code)));
    for (const namespace of missing) this.#loaded.add(namespace);
    if (code === this.code) this.catalogue = Object.assign({}, this.catalogue, ...messages);
    else await this.use(this.code); // The language changed while these loaded.
  }

  /** Updates relative times once a minute while the page is visible. Returns a function that stops it. */
  tick(): () => void {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") this.now = new Date();
    }, 60_000);
    return () => clearInterval(timer);
  }
}

export const language = new Language();

export function t<K extends MessageKey>(key: K, ...args: ArgsOf<K>): string {
  return render(language.catalogue[key] ?? key, language.tag, args[0]);
}

export function formatCount(count: number): string {
  return renderCount(count, language.tag);
}

/** A share from 0 to 1 as a percentage. */
export function formatPercent(share: number): string {
  return new Intl.NumberFormat(language.tag, { style: "percent" }).format(share);
}

export function formatAgo(iso: string): string {
  return renderAgo(new Date(iso), language.now, language.tag);
}

export function formatMoment(iso: string): string {
  return renderMoment(new Date(iso), language.tag);
}

/** A size in the unit that suits it. */
export function formatSize(bytes: number): string {
  return renderSize(bytes, language.tag);
}

/** How long to wait, from now: "in 5 minutes". */
export function formatWait(seconds: number): string {
  return renderWait(seconds, language.tag);
}
