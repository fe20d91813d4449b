/** The upload of a file that a message carries: it goes on where it was interrupted, also after a reload. */
import type { ObjectStore } from "../base/indexedDb";
import { uploadResumably } from "../client/tus";
import type { StoredChange } from "./changeSender";

/** Sends what the server does not have of the file; resolves to the id of the media. */
export async function uploadFile(
  store: ObjectStore<StoredChange>,
  file: File,
  { key, uploadId }: StoredChange,
  onProgress: (share: number) => void,
): Promise<string> {
  const { media_id } = await uploadResumably(file, {
    uploadId,
    onBegin: (begun) => void store.update(key, (entry) => ({ ...entry, uploadId: begun })),
    onProgress,
    signal: new AbortController().signal,
    // A recording becomes a voice message, with its waveform.
    fields: file.type.startsWith("audio/") ? { kind: "voice" } : {},
  });
  return media_id;
}
