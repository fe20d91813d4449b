/** The one error type of requests: an RFC 9457 problem from the server, or no response at all. */

export interface ProblemFacts {
  readonly status: number;
  /** The API's stable code ("username_taken"); "offline" or "timeout" when there was no response. */
  readonly code: string;
  readonly detail?: string;
  readonly requestId?: string;
  /** When to try again, if the server said so; 0 if it did not. */
  readonly retryAfterS?: number;
}

export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly retryAfterS: number;

  constructor({ status, code, detail = "", requestId = "", retryAfterS = 0 }: ProblemFacts) {
    super(`${code} (${status}) ${detail}`.trim());
    this.name = "Problem";
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = requestId;
    this.retryAfterS = retryAfterS;
  }
}

/** Parses an error response; one that is not problem+json (a proxy's error page) still has its status. */
export function problemFrom(status: number, body: string): Problem {
  const facts = parse(body);
  return new Problem({
    status,
    code: text(facts["code"]) || codeFor(status),
    detail: text(facts["detail"]),
    requestId: text(facts["request_id"]),
    retryAfterS: typeof facts["retry_after_s"] === "number" ? facts["retry_after_s"] : 0,
  });
}

function codeFor(status: number): string {
  if (status === 413) return "too_large";
  if (status === 429) return "rate_limited";
  if (status === 502 || status === 503 || status === 504) return "unavailable";
  return "unknown";
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {}; // Not JSON: only the status is known.
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** True for 404: it does not exist or is hidden from the viewer, which look the same on purpose. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Problem && error.status === 404;
}

export type FailureKind = "retry" | "signedOut" | "rejected";

/** What a failed attempt means for something that is queued. */
export function classifyFailure(error: unknown): FailureKind {
  if (!(error instanceof Problem)) return "rejected";
  if (error.status === 401) return "signedOut";
  const isTransient = error.status === 0 || [408, 425, 429].includes(error.status) || error.status >= 500;
  return isTransient ? "retry" : "rejected";
}

/** True when the server could not be reached, or a proxy said that it is down. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Problem && [0, 502, 503, 504].includes(error.status);
}
