/** Searching as one types: asks a moment after the last letter, and only the last question's answer counts. */
import { paths } from "../../base/router";
import { type Found, finding, type Recent } from "../../client/finding";

const AFTER_MS = 160;
const EACH = 8;

export interface Option {
  readonly key: string;
  readonly kind: "account" | "tag" | "place";
  /** What the server remembers it by. */
  readonly subject: string;
  readonly href: string;
}

export class Finder {
  words = $state("");
  found = $state.raw<Found | null>(null);
  failure = $state.raw<unknown>(null);
  isAsking = $state.raw(false);
  /** Which option the arrow keys have reached; -1 is the field itself. */
  at = $state.raw(-1);
  readonly options = $derived.by(() => (this.found === null ? [] : optionsOf(this.found)));
  readonly current = $derived.by(() => this.options[this.at] ?? null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort = new AbortController();

  /** The words have changed. */
  ask(wait_ms = AFTER_MS): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.at = -1;
    this.failure = null;
    const words = this.words.trim();
    this.isAsking = words !== "";
    if (words === "") this.found = null;
    else this.#timer = setTimeout(() => void this.#search(words), wait_ms);
  }

  /** The arrow keys go round, by way of the field. */
  step(by: 1 | -1): void {
    const places = this.options.length + 1;
    this.at = ((this.at + 1 + by + places) % places) - 1;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  async #search(words: string): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    try {
      const found = await finding.search(words, EACH, abort.signal);
      if (!abort.signal.aborted) this.found = found;
    } catch (error) {
      if (!abort.signal.aborted) this.failure = error;
    } finally {
      if (!abort.signal.aborted) this.isAsking = false;
    }
  }
}

function optionsOf({ people, tags, places }: Found): Option[] {
  return [
    ...people.map(({ account_id, username }) => option("account", account_id, paths.profile(username))),
    ...tags.map(({ tag }) => option("tag", tag, paths.tag(tag))),
    ...places.map(({ place_id }) => option("place", place_id, paths.place(place_id))),
  ];
}

function option(kind: Option["kind"], subject: string, href: string): Option {
  return { key: `${kind}-${subject}`, kind, subject, href };
}

/** Where a recent search leads. */
export function hrefOf({ kind, subject, title }: Recent): string {
  if (kind === "account") return paths.profile(title);
  if (kind === "tag") return paths.tag(subject);
  return kind === "place" ? paths.place(subject) : paths.search(subject);
}
