/** One picture on its way to the server: what is shown of it, how far it is, and what became of it. */
import { randomId } from "../../base/random";
import { api, type UploadedMedia } from "../../client";

export type UploadStatus = "waiting" | "sending" | "preparing" | "ready" | "failed";

export class Upload {
  readonly id = randomId();
  readonly file: File;
  status = $state.raw<UploadStatus>("waiting");
  /** Share of the file that has left this device, 0 to 1. */
  share = $state.raw(0);
  media = $state.raw<UploadedMedia | null>(null);
  failure = $state.raw<unknown>(null);
  altText = $state("");
  readonly #abort = new AbortController();

  constructor(file: File) {
    this.file = file;
  }

  /** The picture is on the server, or `failure` says why not. */
  async send(): Promise<void> {
    this.status = "sending";
    this.share = 0;
    this.failure = null;
    try {
      this.media = await api.uploadMedia(this.file, {
        signal: this.#abort.signal,
        onProgress: (share) => this.#progress(share),
      });
      this.status = "ready";
    } catch (error) {
      this.failure = error;
      this.status = "failed";
    }
  }

  /** Nobody wants it any more: a running transfer stops. */
  cancel(): void {
    this.#abort.abort();
  }

  #progress(share: number): void {
    this.share = share;
    // All bytes are there; the server still decodes and scales, which takes a moment of its own.
    if (share >= 1) this.status = "preparing";
  }
}
