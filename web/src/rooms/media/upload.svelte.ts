/**
 * The upload of one photo or video: progress, edits, description and tags.
 *
 * The file is sent once. The server applies edits to the original it keeps; only when it has none is the file sent again.
 */
import { randomId } from "../../base/random";
import { api, Problem, type UploadedMedia } from "../../client";
import { deleteMedia, editMedia, fetchOriginal, getMedia } from "../../client/media";
import { type Edit, isPlain, PLAIN } from "./looks/edit";

export type UploadStatus = "waiting" | "sending" | "preparing" | "ready" | "failed";

/** A tagged person; x and y are fractions of the width and height. */
export interface PersonTag {
  readonly account_id: string;
  readonly username: string;
  readonly x: number;
  readonly y: number;
}

/** What is saved of an upload with the draft, to restore it after a reload. */
export interface SavedUpload {
  readonly base: string;
  readonly edited: string | null;
  readonly edit: Edit;
  readonly altText: string;
  readonly tags: readonly PersonTag[];
}

const POLL_MS = 2_000;

export class Upload {
  readonly id = randomId();
  /** Null when restored after a reload: only the server has it then. */
  readonly file: File | null;
  status = $state.raw<UploadStatus>("waiting");
  /** The uploaded fraction, 0 to 1. */
  share = $state.raw(0);
  base = $state.raw<UploadedMedia | null>(null);
  edited = $state.raw<UploadedMedia | null>(null);
  edit = $state.raw<Edit>(PLAIN);
  failure = $state.raw<unknown>(null);
  altText = $state("");
  tags = $state.raw<readonly PersonTag[]>([]);
  /** The rendition that will be posted. */
  readonly media = $derived(isPlain(this.edit) ? this.base : this.edited);
  readonly #abort = new AbortController();
  #edits = 0;

  constructor(file: File | null) {
    this.file = file;
  }

  /** Restores a saved upload; null when the server no longer has it. */
  static async restore(saved: SavedUpload): Promise<Upload | null> {
    const upload = new Upload(null);
    try {
      upload.base = await getMedia(saved.base);
      upload.edited = saved.edited === null ? null : await getMedia(saved.edited);
    } catch {
      return null; // Uploads that are not posted are deleted after a day.
    }
    upload.edit = upload.edited === null ? PLAIN : saved.edit;
    upload.altText = saved.altText;
    upload.tags = saved.tags.filter(({ account_id }) => account_id !== undefined); // Drafts of 0.1 have user_id.
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

  /** Uploads the file and applies the edit, or sets `failure`. Calling it again does only what is missing. */
  async send(): Promise<void> {
    this.failure = null;
    try {
      if (this.base === null) this.base = await this.#sendFile({});
      await this.#applyEdit();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Applies another edit to the photo. */
  async change(edit: Edit): Promise<void> {
    this.edit = edit;
    this.failure = null;
    if (this.base === null) return; // Still uploading: applied afterwards.
    try {
      await this.#applyEdit();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The unedited photo. */
  async original(): Promise<Blob> {
    if (this.file !== null) return this.file;
    if (this.base === null) throw new Problem({ status: 404, code: "not_found" });
    return fetchOriginal(this.base.media_id);
  }

  /** Aborts the upload and deletes it on the server. */
  cancel(): void {
    this.#edits++;
    this.#abort.abort();
    for (const media of [this.base, this.edited]) if (media) discard(media);
  }

  /** After posting: deletes the renditions that the post does not use. */
  release(): void {
    this.#edits++;
    this.#abort.abort();
    for (const media of [this.base, this.edited]) if (media && media !== this.media) discard(media);
  }

  async #applyEdit(): Promise<void> {
    const edits = ++this.#edits;
    const { edit, base } = this;
    if (base === null) return;
    const before = this.edited;
    if (isPlain(edit)) this.edited = null;
    else {
      this.status = "preparing";
      const made = await this.#createEdit(base, edit);
      if (edits !== this.#edits) return discard(made); // A later edit overtook this one.
      this.edited = made;
    }
    if (before) discard(before);
    this.#settle();
  }

  async #createEdit(base: UploadedMedia, edit: Edit): Promise<UploadedMedia> {
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
    if (media?.state === "processing") setTimeout(() => void this.#poll(), POLL_MS);
    if (media?.state === "failed")
      this.#fail(new Problem({ status: 422, code: "media_refused", detail: media.error ?? "" }));
  }

  /** A video is transcoded after the upload; it may be posted meanwhile. */
  async #poll(): Promise<void> {
    if (this.#abort.signal.aborted || this.base === null) return;
    try {
      this.base = await getMedia(this.base.media_id);
    } catch {
      // Progress is best effort: publishing checks the state anyway.
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
    // All bytes are sent; the server still decodes and scales.
    if (share >= 1) this.status = "preparing";
  }
}

/** Best effort: unused uploads expire after a day anyway. */
function discard(media: UploadedMedia): void {
  deleteMedia(media.media_id).catch(() => {});
}
