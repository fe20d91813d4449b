/** Uploads after they have arrived: edited, asked about, dropped; and the looks to edit them with. */
import { API, refused, send } from "./http";
import type { Schemas, UploadedMedia } from "./types";

const id = encodeURIComponent;

export const listLooks = async (): Promise<readonly Schemas["Look"][]> =>
  (await send<Schemas["LooksView"]>("GET", "/looks")).looks;

/** Another upload of the same photo, made from the original that the server keeps. */
export const editMedia = (mediaId: string, edit: object) =>
  send<UploadedMedia>("POST", `/media/${id(mediaId)}/edits`, { json: { edit } });

export const getMedia = (mediaId: string) => send<UploadedMedia>("GET", `/media/${id(mediaId)}`);

export const dropMedia = (mediaId: string) => send<null>("DELETE", `/media/${id(mediaId)}`);

/** The file as it was sent. */
export async function fetchOriginal(mediaId: string): Promise<Blob> {
  const answer = await fetch(`${API}/media/${id(mediaId)}/original`, { credentials: "same-origin" });
  if (!answer.ok) throw refused(answer.status, await answer.text());
  return answer.blob();
}
