/** Resumable uploads of media by the tus protocol: after a lost connection or a reload only the missing bytes are sent. */
import { send } from "./http";
import { Problem } from "./problem";
import { announce, findOffset, sendBytes, terminate } from "./tusRequests";
import type { UploadedMedia } from "./types";

export interface ResumableOptions {
  /** The upload to continue; null begins one. */
  readonly uploadId: string | null;
  /** Called with the id of a new upload before any byte is sent, to be kept for continuing it. */
  readonly onBegin: (uploadId: string) => void;
  /** Called with the uploaded fraction, 0 to 1. */
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
  /** What a form would have as fields: `edit`, `kind`. */
  readonly fields?: Readonly<Record<string, string>>;
}

const PATH = "/media/tus/";
/** How often another sender may have moved the offset in between: the connection that was just lost, at most. */
const MAX_MOVES = 5;

/** Sends what the server does not have yet; resolves with the media, rejects with a Problem. */
export async function uploadResumably(file: Blob, options: ResumableOptions): Promise<UploadedMedia> {
  const { signal, onProgress, onBegin, fields = {} } = options;
  let { uploadId } = options;
  let offset = uploadId === null ? null : await findOffset(PATH + uploadId, signal);
  if (uploadId === null || offset === null) {
    uploadId = await announce(PATH, file.size, fields, signal);
    offset = 0;
    onBegin(uploadId);
  }
  for (let moves = 0; offset < file.size; ) {
    try {
      offset = await sendFrom(uploadId, file, offset, signal, onProgress);
    } catch (error) {
      const hasMoved = error instanceof Problem && error.code === "upload_offset_wrong";
      if (!hasMoved || ++moves > MAX_MOVES) throw error;
      offset = (await findOffset(PATH + uploadId, signal)) ?? 0;
    }
  }
  onProgress(1);
  return send<UploadedMedia>("GET", PATH + uploadId, { signal });
}

/** Deletes an upload that is not complete. */
export const cancelResumable = (uploadId: string): Promise<unknown> => terminate(PATH + uploadId);

async function sendFrom(
  uploadId: string,
  file: Blob,
  offset: number,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<number> {
  const report = (sent: number) => onProgress((offset + sent) / file.size);
  report(0);
  return sendBytes(PATH + uploadId, file.slice(offset), offset, signal, report);
}
