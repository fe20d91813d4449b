/**
 * One photo or video on its way into a post: what is shown of it, how far it is, what is done to it.
 *
 * The file travels once. An edit is made by the server out of the original that it keeps; only where it keeps none
 * is the file sent again.
 */
import { randomId } from "../../base/random";
import { api, Problem, type UploadedMedia } from "../../client";
import { dropMedia, editMedia, fetchOriginal, getMedia } from "../../client/media";
import { type Edit, isPlain, PLAIN } from "./looks/edit";

export type UploadStatus = "waiting" | "sending" | "preparing" | "ready" | "failed";

/** Somebody in the picture, at fractions of its width and height. */
export interface PersonTag {
  readonly user_id: string;
  readonly username: string;
  readonly x: number;
  readonly y: number;
}

/** What is left of an upload when the page is closed. */
export interface SavedUpload {
  readonly base: string;
  readonly edited: string | null;
  readonly edit: Edit;
  readonly altText: string;
  readonly tags: readonly PersonTag[];
}

const LOOK_AGAIN_MS = 2_000;

export class Upload {
  readonly id = randomId();
  /** Missing after a reload: the server has it then. */
  readonly file: File | null;
  status = $state.raw<UploadStatus>("waiting");
  /** Share of the file that has left this device, 0 to 1. */
  share = $state.raw(0);
  base = $state.raw<UploadedMedia | null>(null);
  edited = $state.raw<UploadedMedia | null>(null);
  edit = $state.raw<Edit>(PLAIN);
  failure = $state.raw<unknown>(null);
  altText = $state("");
  tags = $state.raw<readonly PersonTag[]>([]);
  /** What will be in the post. */
  readonly media = $derived(isPlain(this.edit) ? this.base : this.edited);
  readonly #abort = new AbortController();
  #turn = 0;

  constructor(file: File | null) {
    this.file = file;
  }

  /** What was kept of an upload, as far as the server still has it; null when it is gone. */
  static async restore(saved: SavedUpload): Promise<Upload | null> {
    const upload = new Upload(null);
    try {
      upload.base = await getMedia(saved.base);
      upload.edited = saved.edited === null ? null : await getMedia(saved.edited);
    } catch {
      return null; // Uploads that are not posted go after a day.
    }
    upload.edit = upload.edited === null ? PLAIN : saved.edit;
    upload.altText = saved.altText;
    upload.tags = saved.tags;
    upload.#settle();
    return upload;
  }

  get isVideo(): boolean {
    return this.base === null ? (this.file?.type.startsWith("video/") ?? false) : this.base.type === "video";
  }

  get saved(): SavedUpload | null {
    if (this.base === null) return null;
    const edited = this.media === this.edited ? (this.edited?.media_id ?? null) : null;
    const edit = edited === null ? PLAIN : this.edit;
    return { base: this.base.media_id, edited, edit, altText: this.altText, tags: this.tags };
  }

  /** The file is on the server, edited as wished, or `failure` says why not. Repeating does only what is missing. */
  async send(): Promise<void> {
    this.failure = null;
    try {
      if (this.base === null) this.base = await this.#sendFile({});
      await this.#remake();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** From now on this is what is done to the photo. */
  async change(edit: Edit): Promise<void> {
    this.edit = edit;
    this.failure = null;
    if (this.base === null) return; // Still on its way: done when it arrives.
    try {
      await this.#remake();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The photo as it was taken, to edit it from. */
  async original(): Promise<Blob> {
    if (this.file !== null) return this.file;
    if (this.base === null) throw new Problem({ status: 404, code: "not_found" });
    return fetchOriginal(this.base.media_id);
  }

  /** Nobody wants it any more: a running transfer stops, and the server forgets what it has. */
  cancel(): void {
    this.#turn++;
    this.#abort.abort();
    for (const media of [this.base, this.edited]) if (media) forget(media);
  }

  /** It is posted: only what the post does not use is given back. */
  release(): void {
    this.#turn++;
    this.#abort.abort();
    for (const media of [this.base, this.edited]) if (media && media !== this.media) forget(media);
  }

  async #remake(): Promise<void> {
    const turn = ++this.#turn;
    const { edit, base } = this;
    if (base === null) return;
    const before = this.edited;
    if (isPlain(edit)) this.edited = null;
    else {
      this.status = "preparing";
      const made = await this.#edit(base, edit);
      if (turn !== this.#turn) return forget(made); // A later edit has overtaken this one.
      this.edited = made;
    }
    if (before) forget(before);
    this.#settle();
  }

  async #edit(base: UploadedMedia, edit: Edit): Promise<UploadedMedia> {
    try {
      return await editMedia(base.media_id, edit);
    } catch (error) {
      const isLost = error instanceof Problem && error.status === 404;
      if (!isLost || this.file === null) throw error;
      return this.#sendFile({ edit: JSON.stringify(edit) });
    }
  }

  #sendFile(fields: Readonly<Record<string, string>>): Promise<UploadedMedia> {
    if (this.file === null) throw new Problem({ status: 404, code: "not_found" });
    this.status = "sending";
    this.share = 0;
    return api.uploadMedia(this.file, {
      signal: this.#abort.signal,
      onProgress: (share) => this.#progress(share),
      fields,
    });
  }

  #settle(): void {
    const media = this.media;
    this.status = "ready";
    if (media?.state === "processing") setTimeout(() => void this.#lookAgain(), LOOK_AGAIN_MS);
    if (media?.state === "failed")
      this.#fail(new Problem({ status: 422, code: "media_refused", detail: media.error ?? "" }));
  }

  /** A video is converted after it has arrived; it may be posted meanwhile. */
  async #lookAgain(): Promise<void> {
    if (this.#abort.signal.aborted || this.base === null) return;
    try {
      this.base = await getMedia(this.base.media_id);
    } catch {
      // How far it is, is a courtesy: publishing asks again.
    }
    if (!this.#abort.signal.aborted) this.#settle();
  }

  #fail(error: unknown): void {
    if (this.#abort.signal.aborted) return;
    this.failure = error;
    this.status = "failed";
  }

  #progress(share: number): void {
    this.share = share;
    // All bytes are there; the server still decodes and scales, which takes a moment of its own.
    if (share >= 1) this.status = "preparing";
  }
}

/** What is not given back goes by itself after a day. */
function forget(media: UploadedMedia): void {
  dropMedia(media.media_id).catch(() => {});
}
