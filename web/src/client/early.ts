/**
 * What the page asks before the app has arrived (src/early), and how the app takes the answers: each once, and soon.
 * The two must name the same addresses; an answer that nobody takes costs a request and nothing else.
 */

export interface Answer {
  readonly status: number;
  readonly body: string;
}

declare global {
  interface Window {
    tintypeEarly?: Map<string, Promise<Answer>>;
  }
}

/** Older than this the answer is asked for anew. */
const FRESH_MS = 60_000;
const DEADLINE_MS = 20_000;

export const FEED_PAGE = 12;

/** What home shows, in the order in which it is wanted. */
export function firstAddresses(path: string, mode: string): string[] {
  const me = "/api/v1/accounts/me";
  return path === "/" ? [`/api/v1/feed?mode=${mode}&limit=${FEED_PAGE}`, me, "/api/v1/stories/feed"] : [me];
}

export function askEarly(address: string): Promise<Answer> {
  window.tintypeEarly ??= new Map();
  const asked = fetch(address, {
    credentials: "same-origin",
    headers: { Accept: "application/json" },
    signal: AbortSignal.timeout(DEADLINE_MS),
  }).then(async (response) => ({ status: response.status, body: await response.text() }));
  asked.catch(() => {}); // Whoever takes it hears of the failure.
  window.tintypeEarly.set(address, asked);
  return asked;
}

/** The answer to this read, if the page has asked for it already. */
export function takeEarly(address: string): Promise<Answer> | null {
  const asked = window.tintypeEarly?.get(address);
  window.tintypeEarly?.delete(address);
  return asked === undefined || performance.now() > FRESH_MS ? null : asked.then(inTaskOfItsOwn);
}

/** It may be there already: what is built of it shall not lengthen the task that builds the page. */
function inTaskOfItsOwn(answer: Answer): Promise<Answer> {
  return new Promise((resolve) => setTimeout(resolve, 0, answer));
}

/** Something is being changed: what was answered before may no longer be true. */
export function forgetEarly(): void {
  window.tintypeEarly?.clear();
}
