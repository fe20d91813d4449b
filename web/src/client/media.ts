/** Uploaded media: edit, poll, delete; and the looks (photo filters) to edit with. */
import { API, send, toProblem } from "./http";
import type { Schemas, UploadedMedia } from "./types";

const id = encodeURIComponent;

export const listLooks = async (): Promise<readonly Schemas["Look"][]> =>
  (await send<Schemas["LooksView"]>("GET", "/looks")).looks;

/** Creates an edited rendition from the original that the server keeps. */
export const editMedia = (mediaId: string, edit: object) =>
  send<UploadedMedia>("POST", `/media/${id(mediaId)}/edits`, { json: { edit } });

export const getMedia = (mediaId: string) => send<UploadedMedia>("GET", `/media/${id(mediaId)}`);

export const deleteMedia = (mediaId: string) => send<null>("DELETE", `/media/${id(mediaId)}`);

/** The file as it was uploaded. */
export async function fetchOriginal(mediaId: string): Promise<Blob> {
  const response = await fetch(`${API}/media/${id(mediaId)}/original`, { credentials: "same-origin" });
  if (!response.ok) throw toProblem(response.status, await response.text());
  return response.blob();
}
