/** The offers for the mention or hashtag being typed, and which of them is about to be taken. */
import { t } from "../../../base/i18n";
import { findPeople, findTags } from "../../../client/completing";
import { Finder } from "../../../ui/forms/finder.svelte";
import { type Begun, begunAt } from "./completing";

export interface Offer {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
}

async function ask(text: string, signal: AbortSignal): Promise<readonly Offer[]> {
  const words = text.slice(1);
  if (text.startsWith("@"))
    return (await findPeople(words, signal)).map((one) => ({
      key: one.username,
      label: `@${one.username}`,
      detail: one.full_name,
    }));
  return (await findTags(words, signal)).map((one) => ({
    key: one.tag,
    label: `#${one.tag}`,
    detail: t("create.tagPosts", { count: one.post_count }),
  }));
}

export class Completion {
  begun = $state.raw<Begun | null>(null);
  at = $state.raw(0);
  readonly #finder = new Finder<Offer>(ask);
  readonly offers = $derived<readonly Offer[]>(this.begun === null ? [] : this.#finder.found);
  readonly isOpen = $derived(this.offers.length > 0);
  readonly current = $derived(this.offers[this.at] ?? null);

  look(text: string, caret: number): void {
    this.begun = begunAt(text, caret);
    this.at = 0;
    if (this.begun === null) this.#finder.clear();
    else this.#finder.look(this.begun.kind + this.begun.text);
  }

  step(by: number): void {
    this.at = (this.at + by + this.offers.length) % this.offers.length;
  }

  close(): void {
    this.begun = null;
    this.#finder.clear();
  }
}
