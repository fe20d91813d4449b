/**
 * One photo or video of a draft: its file on this device, what the server has of it, its edit, description and tags.
 *
 * The file is sent once, in an upload that a reload or a lost connection only interrupts. The edit is applied by the server to
 * the original it keeps, when the post is published; only when it has none is the file sent again.
 */
import { randomId } from "../../base/random";
import { isNotFound, Problem, type UploadedMedia } from "../../client";
import { deleteMedia, editMedia, getMedia } from "../../client/media";
import { cancelResumable, uploadResumably } from "../../client/tus";
import { live } from "../../live";
import { classifyFailure } from "../../offline";
import { decodePhoto } from "./decodePhoto";
import { type Edit, isPlain, PLAIN } from "./looks/edit";
import { frame } from "./looks/geometry";
import { isSlowConnection, mayShrink, shrink } from "./shrink";
import { toEdited, toUnedited } from "./tagging/taggedPoint";

/** "failed": the server refused the file, and will again. Without a connection an upload is "waiting". */
export type UploadStatus = "waiting" | "sending" | "preparing" | "ready" | "failed";

/** A tagged person; x and y are fractions of the width and height. */
export interface PersonTag {
  readonly account_id: string;
  readonly username: string;
  readonly x: number;
  readonly y: number;
}

/** What is saved of an upload with the draft; its file is stored apart. */
export interface SavedUpload {
  readonly id: string;
  readonly name: string;
  readonly isVideo: boolean;
  /** The resumable upload, while it is not complete. */
  readonly uploadId: string | null;
  /** The id of the media without the edit. */
  readonly base: string | null;
  readonly edited: { readonly mediaId: string; readonly edit: Edit } | null;
  /** Why the server refused the file: it is not sent again unless the author asks. */
  readonly refusal: { readonly status: number; readonly code: string; readonly detail: string } | null;
  readonly edit: Edit;
  readonly altText: string;
  /** At their places in the unedited photo. */
  readonly tags: readonly PersonTag[];
}

const POLL_MS = 2_000;
/** While the server tells of the conversion by itself. */
const SLOW_POLL_MS = 20_000;

export class Upload {
  readonly id: string;
  readonly name: string;
  /** Null when this device does not have it (any more): only the server has it then. */
  file = $state.raw<File | null>(null);
  status = $state.raw<UploadStatus>("waiting");
  /** The uploaded fraction, 0 to 1. */
  share = $state.raw(0);
  base = $state.raw<UploadedMedia | null>(null);
  /** The decoded photo without the edit; null for videos, and until it is decoded. */
  photo = $state.raw<ImageBitmap | null>(null);
  edit = $state.raw<Edit>(PLAIN);
  /** Why the server refused it, or why it waits for another attempt. */
  failure = $state.raw<unknown>(null);
  altText = $state("");
  /** At their places in the unedited photo. */
  #tags = $state.raw<readonly PersonTag[]>([]);
  /** Called with another file to be kept in place of the first: a smaller copy. */
  onFileReplaced: (file: File) => void = () => {};
  #uploadId = $state.raw<string | null>(null);
  #baseId = $state.raw<string | null>(null);
  #edited = $state.raw<SavedUpload["edited"]>(null);
  #refusal = $state.raw<SavedUpload["refusal"]>(null);
  #wasVideo = false;
  #sending: Promise<void> | null = null;
  #decoding: Promise<void> | null = null;
  readonly #abort = new AbortController();

  constructor(file: File | null, id = randomId(), name = file?.name ?? "") {
    this.id = id;
    this.name = name;
    this.file = file;
  }

  /** An upload as it was saved. Whether the server still has what it had is found out by `send`. */
  static restore(saved: SavedUpload, file: File | null): Upload {
    const upload = new Upload(file, saved.id, saved.name);
    upload.edit = saved.edit;
    upload.altText = saved.altText;
    upload.#tags = saved.tags;
    upload.#uploadId = saved.uploadId;
    upload.#baseId = saved.base;
    upload.#edited = saved.edited;
    upload.#wasVideo = saved.isVideo;
    if (saved.refusal) upload.#refuse(new Problem(saved.refusal));
    return upload;
  }

  readonly isVideo = $derived.by(() => {
    if (this.base !== null) return this.base.type === "video";
    return this.file === null ? this.#wasVideo : isVideoFile(this.file);
  });

  /** The size of the picture without its edit, as far as it is known. */
  readonly #whole = $derived(this.photo ?? this.base ?? { width: 1, height: 1 });

  /** The size of the picture with its edit, as far as it is known. */
  readonly size = $derived(frame(this.#whole.width, this.#whole.height, this.edit));

  /** The tagged people at their places in the picture with its edit, without those who were cropped away. */
  readonly tags = $derived(
    this.#tags
      .map((tag) => ({ ...tag, ...toEdited(tag, this.#whole, this.edit) }))
      .filter(({ x, y }) => isInside(x) && isInside(y)),
  );

  setTags(tags: readonly PersonTag[]): void {
    const shown = new Set(this.tags.map(({ account_id }) => account_id));
    const hidden = this.#tags.filter(({ account_id }) => !shown.has(account_id));
    const named = new Set(tags.map(({ account_id }) => account_id));
    this.#tags = [
      ...hidden.filter(({ account_id }) => !named.has(account_id)),
      ...tags.map((tag) => ({ ...tag, ...toUnedited(tag, this.#whole, this.edit) })),
    ];
  }

  get saved(): SavedUpload {
    const { id, name, isVideo, edit, altText } = this;
    const [uploadId, base, edited, tags] = [this.#uploadId, this.#baseId, this.#edited, this.#tags];
    return { id, name, isVideo, uploadId, base, edited, refusal: this.#refusal, edit, altText, tags };
  }

  /** Makes sure that the server has the file, or sets `failure` where it refuses it. Rejects where trying again may help. */
  send(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  /** Decodes the photo for previews: from the file, or from the server's rendition where the browser cannot. */
  decode(): Promise<void> {
    if (this.photo !== null || this.isVideo) return Promise.resolve();
    this.#decoding ??= this.#decode().finally(() => {
      this.#decoding = null;
    });
    return this.#decoding;
  }

  /** The id of the media to post: with the edit applied. */
  async prepare(): Promise<string> {
    if (this.base === null) throw new Problem({ status: 404, code: "not_found" });
    if (isPlain(this.edit) || this.isVideo) return this.base.media_id;
    const { edit } = this;
    if (this.#edited !== null && JSON.stringify(this.#edited.edit) === JSON.stringify(edit))
      return this.#edited.mediaId;
    const media = await this.#createEdit(this.base.media_id, edit);
    this.#edited = { mediaId: media.media_id, edit };
    return media.media_id;
  }

  /** The server no longer has the media: the file is sent again. False where this device does not have it either. */
  startAgain(): boolean {
    this.base = null;
    this.#baseId = null;
    this.#uploadId = null;
    this.#edited = null;
    this.#refusal = null;
    this.status = "waiting";
    return this.file !== null;
  }

  /** Stops sending; what the server has stays there. */
  stop(): void {
    this.#abort.abort();
    this.photo?.close();
    this.photo = null;
  }

  /** Stops sending, and deletes what the server has. */
  cancel(): void {
    this.stop();
    for (const mediaId of [this.#baseId, this.#edited?.mediaId ?? null]) if (mediaId) discard(mediaId);
    if (this.#baseId === null && this.#uploadId !== null) cancelResumable(this.#uploadId).catch(() => {});
  }

  /** After posting: deletes what the post does not use. */
  release(postedId: string | undefined): void {
    this.stop();
    for (const mediaId of [this.#baseId, this.#edited?.mediaId ?? null])
      if (mediaId && mediaId !== postedId) discard(mediaId);
  }

  async #send(): Promise<void> {
    if (this.base !== null || this.status === "failed") return;
    this.failure = null;
    try {
      this.base = (await this.#findBase()) ?? (await this.#sendFile());
      this.#baseId = this.base.media_id;
      this.#settle();
      void this.decode();
    } catch (error) {
      if (classifyFailure(error) === "rejected" && !this.#abort.signal.aborted) return this.#refuse(error);
      this.status = "waiting";
      this.failure = error;
      throw error;
    }
  }

  /** The media of an earlier visit, if the server still has them: unless they are posted it deletes them after a day. */
  async #findBase(): Promise<UploadedMedia | null> {
    if (this.#baseId === null) return null;
    try {
      return await getMedia(this.#baseId);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.startAgain();
      return null;
    }
  }

  async #sendFile(fields: Readonly<Record<string, string>> = {}): Promise<UploadedMedia> {
    if (this.file === null) throw new Problem({ status: 404, code: "draft_file_lost" });
    this.status = "sending";
    const isEdit = "edit" in fields;
    if (!isEdit) await this.#shrink();
    return uploadResumably(this.file, {
      uploadId: isEdit ? null : this.#uploadId,
      onBegin: (uploadId) => {
        if (!isEdit) this.#uploadId = uploadId;
      },
      onProgress: (share) => this.#progress(share),
      signal: this.#abort.signal,
      fields,
    });
  }

  /** Before the first byte only: a resumed upload has to send the same bytes. */
  async #shrink(): Promise<void> {
    if (this.#uploadId !== null || this.file === null || !mayShrink() || !isSlowConnection()) return;
    const smaller = await shrink(this.file);
    if (smaller === this.file) return;
    this.file = smaller;
    this.onFileReplaced(smaller);
  }

  async #createEdit(baseId: string, edit: Edit): Promise<UploadedMedia> {
    try {
      return await editMedia(baseId, edit);
    } catch (error) {
      if (!isNotFound(error) || this.file === null) throw error;
      const media = await this.#sendFile({ edit: JSON.stringify(edit) });
      this.status = "ready";
      return media;
    }
  }

  async #decode(): Promise<void> {
    const { signal } = this.#abort;
    const photo = (await this.#decodeFile()) ?? (await this.#decodeRendition());
    if (signal.aborted) photo?.close();
    else this.photo = photo;
  }

  async #decodeFile(): Promise<ImageBitmap | null> {
    return this.file === null ? null : decodePhoto(this.file).catch(() => null);
  }

  async #decodeRendition(): Promise<ImageBitmap | null> {
    const url = this.base?.urls["1080"] ?? this.base?.urls["640"];
    if (url === undefined) return null;
    return fetch(url)
      .then((response) => response.blob())
      .then(decodePhoto)
      .catch(() => null);
  }

  #settle(): void {
    this.status = "ready";
    if (this.base?.state === "processing") this.#awaitConversion(this.base);
    if (this.base?.state === "failed")
      this.#refuse(new Problem({ status: 422, code: "media_refused", detail: this.base.error ?? "" }));
  }

  /** Shows the progress as the live connection tells it, and asks for the media when it ends; without one, every two seconds. */
  #awaitConversion({ media_id }: UploadedMedia): void {
    const isLive = live.state.value === "online";
    const proceed = (): void => {
      clearTimeout(timer);
      unsubscribe();
      void this.#poll();
    };
    const timer = setTimeout(proceed, isLive ? SLOW_POLL_MS : POLL_MS);
    const unsubscribe = live.onSignal("media", (signal) => {
      if (signal.media_id !== media_id || this.base === null) return;
      if (signal.state !== "processing") proceed();
      else this.base = { ...this.base, progress: signal.progress };
    });
    this.#abort.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      unsubscribe();
    });
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

  #refuse(error: unknown): void {
    this.failure = error;
    this.status = "failed";
    this.#uploadId = null;
    const { status, code, detail } =
      error instanceof Problem ? error : { status: 0, code: "unknown", detail: "" };
    this.#refusal = { status, code, detail };
  }

  #progress(share: number): void {
    this.share = share;
    // All bytes are sent; the server still decodes and scales.
    this.status = share >= 1 ? "preparing" : "sending";
  }
}

/** Rounding must not lose a tag on the edge. */
function isInside(share: number): boolean {
  return share > -0.001 && share < 1.001;
}

/** By MIME type, or by name: some systems leave the type of MOV files empty. */
function isVideoFile(file: File): boolean {
  return file.type.startsWith("video/") || /\.(mov|mp4)$/i.test(file.name);
}

/** Best effort: unused uploads expire after a day anyway. */
function discard(mediaId: string): void {
  deleteMedia(mediaId).catch(() => {});
}
