/** Autocomplete of mentions and hashtags in the caption: the suggestions and the highlighted one. */
import { t } from "../../../base/i18n";
import { findPeople, findTags } from "../../../client/autocomplete";
import { Autocomplete } from "../../../ui/forms/autocomplete.svelte";
import { type CaretToken, tokenAtCaret } from "./caretToken";

export interface Suggestion {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
}

async function fetchSuggestions(text: string, signal: AbortSignal): Promise<readonly Suggestion[]> {
  const query = text.slice(1);
  if (text.startsWith("@"))
    return (await findPeople(query, signal)).map((one) => ({
      key: one.username,
      label: `@${one.username}`,
      detail: one.full_name,
    }));
  return (await findTags(query, signal)).map((one) => ({
    key: one.tag,
    label: `#${one.tag}`,
    detail: t("create.tagPosts", { count: one.post_count }),
  }));
}

export class CaptionAutocomplete {
  token = $state.raw<CaretToken | null>(null);
  at = $state.raw(0);
  readonly #autocomplete = new Autocomplete<Suggestion>(fetchSuggestions);
  readonly suggestions = $derived<readonly Suggestion[]>(
    this.token === null ? [] : this.#autocomplete.results,
  );
  readonly isOpen = $derived(this.suggestions.length > 0);
  readonly current = $derived(this.suggestions[this.at] ?? null);

  update(text: string, caret: number): void {
    this.token = tokenAtCaret(text, caret);
    this.at = 0;
    if (this.token === null) this.#autocomplete.clear();
    else this.#autocomplete.search(this.token.kind + this.token.text);
  }

  step(by: number): void {
    this.at = (this.at + by + this.suggestions.length) % this.suggestions.length;
  }

  close(): void {
    this.token = null;
    this.#autocomplete.clear();
  }
}
