/** Every way a request can fail, in one type: what the server said, or why it could not be asked. */

export interface ProblemFacts {
  readonly status: number;
  /** A promise of the API ("username_taken"), or ours when no answer came: "offline", "timeout". */
  readonly code: string;
  readonly detail?: string;
  readonly requestId?: string;
}

export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;

  constructor({ status, code, detail = "", requestId = "" }: ProblemFacts) {
    super(`${code} (${status}) ${detail}`.trim());
    this.name = "Problem";
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = requestId;
  }
}

/** A refusal as the server worded it; an answer that is not problem+json (a proxy's page) keeps its status. */
export function problemFrom(status: number, body: string): Problem {
  const facts = parse(body);
  return new Problem({
    status,
    code: text(facts["code"]) || codeFor(status),
    detail: text(facts["detail"]),
    requestId: text(facts["request_id"]),
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
    return {}; // Not JSON: the status alone has to tell.
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
