/** The language now in use. Reading `t` inside a component re-renders it when the language changes. */
import { type Area, type ArgsOf, core, loadWords, type MessageKey } from "./areas";
import { type LocaleCode, locales } from "./locales";
import { render, renderAgo, renderCount, renderMoment } from "./render";
import type { Message } from "./types";

class Language {
  code = $state.raw<LocaleCode>("en");
  catalogue = $state.raw<Readonly<Record<string, Message>>>(core);
  readonly #needed = new Set<Area>();
  #wanted: LocaleCode = "en";
  /** A clock for relative times: one tick a minute for the whole app instead of a timer per post. */
  now = $state.raw(new Date());

  /** Everything on screen, and the document's own direction, is in `code` from now on. */
  async use(code: LocaleCode): Promise<void> {
    this.#wanted = code;
    let areas: (Area | "core")[] = [];
    let words: Readonly<Record<string, Message>>[] = [];
    // A page may ask for more words while these are on their way: they belong to the new language too.
    while (areas.length < this.#needed.size + 1) {
      areas = ["core", ...this.#needed];
      words = await Promise.all(areas.map((area) => loadWords(area, code)));
    }
    if (this.#wanted !== code) return; // A later choice has overtaken this one.
    this.catalogue = Object.assign({}, ...words);
    this.code = code;
    document.documentElement.lang = code;
    document.documentElement.dir = locales[code].dir;
  }

  /** The words of these areas are there when this resolves; pages ask before they are shown. */
  async need(...areas: readonly Area[]): Promise<void> {
    const missing = areas.filter((area) => !this.#needed.has(area));
    if (missing.length === 0) return;
    const code = this.code;
    const words = await Promise.all(missing.map((area) => loadWords(area, code)));
    for (const area of missing) this.#needed.add(area);
    if (code === this.code) this.catalogue = Object.assign({}, this.catalogue, ...words);
    else await this.use(this.code); // The language changed meanwhile.
  }

  /** Relative times stay true while the page is open; returns how to stop. */
  tick(): () => void {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") this.now = new Date();
    }, 60_000);
    return () => clearInterval(timer);
  }
}

export const language = new Language();

export function t<K extends MessageKey>(key: K, ...args: ArgsOf<K>): string {
  return render(language.catalogue[key] ?? key, language.code, args[0]);
}

export function formatCount(count: number): string {
  return renderCount(count, language.code);
}

export function formatAgo(iso: string): string {
  return renderAgo(new Date(iso), language.now, language.code);
}

export function formatMoment(iso: string): string {
  return renderMoment(new Date(iso), language.code);
}
