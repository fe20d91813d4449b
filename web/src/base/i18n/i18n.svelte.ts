/** The language now in use. Reading `t` inside a component re-renders it when the language changes. */
import { type ArgsOf, type Catalogue, type LocaleCode, locales, type MessageKey } from "./locales";
import { en } from "./messages/en";
import { render, renderAgo, renderCount, renderMoment } from "./render";

class Language {
  code = $state.raw<LocaleCode>("en");
  catalogue = $state.raw<Catalogue>(en);
  /** A clock for relative times: one tick a minute for the whole app instead of a timer per post. */
  now = $state.raw(new Date());

  /** Everything on screen, and the document's own direction, is in `code` from now on. */
  async use(code: LocaleCode): Promise<void> {
    this.catalogue = await locales[code].load();
    this.code = code;
    document.documentElement.lang = code;
    document.documentElement.dir = locales[code].dir;
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
  return render(language.catalogue[key], language.code, args[0]);
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
