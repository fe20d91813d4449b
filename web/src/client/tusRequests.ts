/** Requests of the tus protocol, for uploads that continue after a lost connection or a reload. */
import { csrfHeaders } from "./csrf";
import { API, toProblem } from "./http";
import { isNotFound, Problem } from "./problem";

/** Without any byte or answer for so long the connection counts as lost. */
const STALLED_MS = 90_000;

/** Announces an upload; resolves to its id. */
export async function announce(
  path: string,
  sizeBytes: number,
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const metadata = Object.entries(fields).map(([name, value]) => `${name} ${base64(value)}`);
  const headers = {
    "Upload-Length": String(sizeBytes),
    ...(metadata.length > 0 ? { "Upload-Metadata": metadata.join(",") } : {}),
  };
  const response = await request("POST", path, headers, signal);
  return response.getResponseHeader("Location")?.split("/").at(-1) ?? "";
}

/** How many bytes the server has; null when it no longer knows the upload. */
export async function findOffset(path: string, signal: AbortSignal): Promise<number | null> {
  try {
    return offsetOf(await request("HEAD", path, {}, signal));
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Sends bytes that belong at an offset; resolves to the offset behind them. */
export async function sendBytes(
  path: string,
  body: Blob,
  offset: number,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
): Promise<number> {
  const headers = { "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" };
  return offsetOf(await request("PATCH", path, headers, signal, { body, onSent }));
}

/** Deletes an upload that is not complete. */
export function terminate(path: string): Promise<unknown> {
  return request("DELETE", path, {}, new AbortController().signal);
}

function offsetOf(response: XMLHttpRequest): number {
  return Number(response.getResponseHeader("Upload-Offset"));
}

interface Sending {
  readonly body?: Blob;
  readonly onSent?: (bytes: number) => void;
}

/** One request; XMLHttpRequest, because fetch does not report upload progress. */
function request(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  { body, onSent }: Sending = {},
): Promise<XMLHttpRequest> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const fail = (code: "offline" | "timeout") => reject(new Problem({ status: 0, code }));
    const aborted = () => reject(new DOMException("The upload was cancelled.", "AbortError"));
    let watch = setTimeout(giveUp, STALLED_MS);
    function giveUp(): void {
      xhr.onabort = () => fail("timeout");
      xhr.abort();
    }
    xhr.open(method, API + path);
    for (const [name, value] of Object.entries({ "Tus-Resumable": "1.0.0", ...headers, ...csrfHeaders() }))
      xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded }) => {
      clearTimeout(watch);
      watch = setTimeout(giveUp, STALLED_MS);
      onSent?.(loaded);
    };
    xhr.onloadend = () => clearTimeout(watch);
    xhr.onload = () => {
      if (xhr.status >= 200 && xhr.status < 300) resolve(xhr);
      else reject(toProblem(xhr.status, xhr.responseText));
    };
    xhr.onerror = () => fail("offline");
    xhr.onabort = aborted;
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", () => xhr.abort(), { once: true });
    xhr.send(body ?? null);
  });
}

/** Base64 of UTF-8. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
