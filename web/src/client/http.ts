/** JSON over HTTP: the session cookie, the CSRF header, a deadline, and one kind of error. */
import { csrfHeaders } from "./csrf";
import { type Answer, forgetEarly, takeEarly } from "./early";
import { Problem, problemFrom } from "./problem";

export const API = "/api/v1";
const DEADLINE_MS = 20_000;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface SendOptions {
  readonly json?: unknown;
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type Listener = () => void;
let onSignedOut: Listener = () => {};

/** Called whenever the server says that the session has ended. */
export function whenSignedOut(listener: Listener): void {
  onSignedOut = listener;
}

/** The answer's JSON, or null for an empty answer; rejects with a Problem. */
export async function send<T>(method: Method, path: string, options: SendOptions = {}): Promise<T> {
  const { status, body } = await ask(method, path, options);
  if (status < 200 || status > 299) throw refused(status, body);
  return (body === "" ? null : JSON.parse(body)) as T;
}

/** A refusal as a Problem; everyone who cares learns when it means that the session is over. */
export function refused(status: number, body: string): Problem {
  const problem = problemFrom(status, body);
  if (problem.code === "not_signed_in") onSignedOut();
  return problem;
}

async function ask(method: Method, path: string, options: SendOptions): Promise<Answer> {
  if (method !== "GET") forgetEarly();
  const at = address(path, options.query);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
  try {
    const early = method === "GET" ? takeEarly(at) : null;
    if (early !== null) return await early;
    const response = await fetch(at, { ...request(method, options), signal });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    if (options.signal?.aborted) throw error; // The caller has lost interest and knows it.
    throw new Problem({ status: 0, code: deadline.aborted ? "timeout" : "offline" });
  }
}

function request(method: Method, { json, headers }: SendOptions): RequestInit {
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

function address(path: string, query: SendOptions["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return API + path + (text === "" ? "" : `?${text}`);
}
