/** Imports of posts from elsewhere: begin one, upload its archives, start it, watch it, read its report. */
import { send } from "./http";
import { Problem } from "./problem";
import { announce, findOffset, sendBytes } from "./tusRequests";
import type { Schemas } from "./types";

export type Import = Schemas["ImportView"];
export type ImportSource = Import["source"];
export type ImportLine = Schemas["ImportLineView"];

const id = encodeURIComponent;
/** Proxies limit the size of a request, and a lost one is sent again. */
const REQUEST_BYTES = 32 * 1024 * 1024;

export const listImports = () => send<Schemas["ImportsView"]>("GET", "/imports");
export const getImport = (importId: string) => send<Import>("GET", `/imports/${id(importId)}`);
export const beginImport = (source: ImportSource, withStories: boolean) =>
  send<Import>("POST", "/imports", { json: { source, with_stories: withStories } });
export const startImport = (importId: string) => send<Import>("POST", `/imports/${id(importId)}/start`);
export const cancelImport = (importId: string) => send<Import>("POST", `/imports/${id(importId)}/cancel`);

export function getReport(importId: string, cursor: string | null): Promise<Schemas["ImportReportView"]> {
  const query = cursor === null ? "" : `?cursor=${id(cursor)}`;
  return send("GET", `/imports/${id(importId)}/report${query}`);
}

/** Announces an archive; resolves to its id. */
export const addArchive = (importId: string, file: File, signal: AbortSignal) =>
  announce(`/imports/${id(importId)}/archives`, file.size, { filename: file.name }, signal);

/** Sends what the server does not have yet of an archive; rejects with a Problem. */
export async function sendArchive(
  importId: string,
  archiveId: string,
  file: Blob,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
): Promise<void> {
  const path = `/imports/${id(importId)}/archives/${id(archiveId)}`;
  let offset = await findOffset(path, signal);
  if (offset === null) throw new Problem({ status: 404, code: "upload_not_found" });
  while (offset < file.size) {
    const from: number = offset;
    onSent(from);
    const body = file.slice(from, from + REQUEST_BYTES);
    offset = await sendBytes(path, body, from, signal, (bytes) => onSent(from + bytes));
  }
  onSent(file.size);
}
