/** Canned responses for `fetch`. */
import { vi } from "vitest";

export interface Canned {
  readonly status?: number;
  readonly body?: unknown;
}

/** Makes `fetch` respond with these in turn; more requests than responses are an error. */
export function respondWith(...responses: (Canned | Error)[]) {
  const fetched = vi.fn(async (_input: string, _init?: RequestInit): Promise<Response> => {
    const next = responses.shift();
    if (next === undefined) throw new Error("more requests than responses");
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
