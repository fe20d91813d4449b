/** JSON requests: session cookie, CSRF header, timeout, and `Problem` as the only kind of error. */
import { csrfHeaders } from "./csrf";
import { clearPrefetched, type RawResponse, takePrefetched } from "./prefetch";
import { Problem, problemFrom } from "./problem";

export const API = "/api/v1";
const TIMEOUT_MS = 20_000;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface SendOptions {
  readonly json?: unknown;
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type Listener = () => void;
let sessionEnded: Listener = () => {};

/** Sets the function to call whenever the server says that the session has ended. */
export function onSessionEnded(listener: Listener): void {
  sessionEnded = listener;
}

/** The response's JSON, or null for an empty body; rejects with a Problem. */
export async function send<T>(method: Method, path: string, options: SendOptions = {}): Promise<T> {
  const { status, body } = await request(method, path, options);
  if (status < 200 || status > 299) throw toProblem(status, body);
  return (body === "" ? null : JSON.parse(body)) as T;
}

/** The Problem of an error response; also notifies the session when it has ended. */
export function toProblem(status: number, body: string): Problem {
  const problem = problemFrom(status, body);
  if (problem.code === "not_signed_in") sessionEnded();
  return problem;
}

async function request(method: Method, path: string, options: SendOptions): Promise<RawResponse> {
  if (method !== "GET") clearPrefetched();
  const url = urlOf(path, options.query);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  try {
    const prefetched = method === "GET" ? takePrefetched(url) : null;
    if (prefetched !== null) return await prefetched;
    const response = await fetch(url, { ...requestInit(method, options), signal });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    if (options.signal?.aborted) throw error; // The caller aborted it.
    throw new Problem({ status: 0, code: timeout.aborted ? "timeout" : "offline" });
  }
}

function requestInit(method: Method, { json, headers }: SendOptions): RequestInit {
  return {
    method,
    credentials: "same-origin",
    headers: {
      Accept: "application/json",
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      ...(method === "GET" ? {} : csrfHeaders()),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  };
}

function urlOf(path: string, query: SendOptions["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return API + path + (text === "" ? "" : `?${text}`);
}
