/** Canned answers for `fetch`: the server is the outside world here. */
import { vi } from "vitest";

export interface Canned {
  readonly status?: number;
  readonly body?: unknown;
}

/** `fetch` answers with these in turn; asking more often than that is an error. */
export function answer(...answers: (Canned | Error)[]) {
  const fetched = vi.fn(async (_input: string, _init?: RequestInit): Promise<Response> => {
    const next = answers.shift();
    if (next === undefined) throw new Error("asked more often than expected");
    if (next instanceof Error) throw next;
    const { status = 200, body } = next;
    const text = body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body);
    return new Response(status === 204 ? null : text, { status });
  });
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

export function problem(status: number, code: string, detail = "") {
  return { status, body: { type: "about:blank", title: code, status, code, detail, request_id: "r-1" } };
}
