/** The state of the search box: query, results and the highlighted option. Searches as you type, debounced. */
import { DebouncedRequest } from "../../base/debouncedRequest";
import { paths } from "../../base/router";
import { type Recent, type SearchResults, search } from "../../client/search";

const DEBOUNCE_MS = 160;
const LIMIT = 8;

export interface ResultOption {
  readonly key: string;
  readonly kind: "account" | "tag" | "place";
  /** The id under which the server keeps it as a recent search. */
  readonly subject: string;
  readonly href: string;
}

export class SearchBoxState {
  query = $state("");
  results = $state.raw<SearchResults | null>(null);
  /** The query that the results are for. */
  answered = $state.raw("");
  failure = $state.raw<unknown>(null);
  isSearching = $state.raw(false);
  /** The option highlighted by the arrow keys; -1 is the field itself. */
  index = $state.raw(-1);
  readonly options = $derived.by(() => (this.results === null ? [] : optionsOf(this.results)));
  readonly current = $derived.by(() => this.options[this.index] ?? null);
  readonly #request = new DebouncedRequest();

  /** Searches for the present query; call it after every change. */
  search(delay_ms = DEBOUNCE_MS): void {
    this.#request.cancel();
    this.index = -1;
    this.failure = null;
    const query = this.query.trim();
    this.isSearching = query !== "";
    if (query === "") {
      this.results = null;
      this.answered = "";
    } else this.#request.schedule(delay_ms, (signal) => this.#search(query, signal));
  }

  /** Moves the highlight, cycling through the options and the field. */
  step(by: 1 | -1): void {
    const positions = this.options.length + 1;
    this.index = ((this.index + 1 + by + positions) % positions) - 1;
  }

  cancel(): void {
    this.#request.cancel();
  }

  async #search(query: string, signal: AbortSignal): Promise<void> {
    try {
      const results = await search.query(query, LIMIT, signal);
      if (signal.aborted) return;
      this.results = results;
      this.answered = query;
    } catch (error) {
      if (!signal.aborted) this.failure = error;
    } finally {
      if (!signal.aborted) this.isSearching = false;
    }
  }
}

function optionsOf({ people, tags, places }: SearchResults): ResultOption[] {
  return [
    ...people.map(({ account_id, username }) => option("account", account_id, paths.profile(username))),
    ...tags.map(({ tag }) => option("tag", tag, paths.tag(tag))),
    ...places.map(({ place_id }) => option("place", place_id, paths.place(place_id))),
  ];
}

function option(kind: ResultOption["kind"], subject: string, href: string): ResultOption {
  return { key: `${kind}-${subject}`, kind, subject, href };
}

/** The page that a recent search leads to. */
export function recentHref({ kind, subject, title }: Recent): string {
  if (kind === "account") return paths.profile(title);
  if (kind === "tag") return paths.tag(subject);
  return kind === "place" ? paths.place(subject) : paths.search(subject);
}
