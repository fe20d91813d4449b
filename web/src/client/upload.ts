/** File uploads with progress, through XMLHttpRequest because fetch does not report upload progress. */
import { csrfHeaders } from "./csrf";
import { API, toProblem } from "./http";
import { Problem } from "./problem";

export interface UploadOptions {
  /** Called with the uploaded fraction, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  readonly signal?: AbortSignal;
  /** Further form fields: `edit`, `kind`. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Sends one file as the multipart field `file`; resolves with the response's JSON, rejects with a Problem. */
export function upload<T>(
  path: string,
  file: File,
  { onProgress, signal, fields }: UploadOptions = {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", API + path);
    for (const [name, value] of Object.entries(csrfHeaders())) request.setRequestHeader(name, value);
    request.setRequestHeader("Accept", "application/json");
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) onProgress?.(event.loaded / event.total);
    };
    request.onload = () => settle(request, resolve, reject);
    request.onerror = () => reject(new Problem({ status: 0, code: "offline" }));
    request.onabort = () => reject(new DOMException("The upload was cancelled.", "AbortError"));
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(form(file, fields));
  });
}

function settle<T>(
  request: XMLHttpRequest,
  resolve: (value: T) => void,
  reject: (reason: Problem) => void,
): void {
  const { status, responseText } = request;
  if (status < 200 || status >= 300) reject(toProblem(status, responseText));
  else resolve(JSON.parse(responseText) as T);
}

function form(file: File, fields: UploadOptions["fields"] = {}): FormData {
  const data = new FormData();
  // Before the file: the server reads the form as it arrives.
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  data.set("file", file);
  return data;
}
