/**
 * The draft of a post. It outlives its page and is saved on this device with every change, files included, so that browsing
 * elsewhere, a reload and a lost connection lose nothing. Its key is the Idempotency-Key of the post it becomes.
 */
import { Backoff } from "../../../base/backoff";
import { randomId } from "../../../base/random";
import { api, type NewPost, type Post, Problem } from "../../../client";
import { type NewScheduledPost, type ScheduledPost, schedulePost } from "../../../client/scheduledPosts";
import { classifyFailure } from "../../../offline";
import { draftFiles } from "../../../offline/draftStore";
import { Upload, UploadQueue } from "../../media/uploads";
import { isPossible } from "../scheduled/publishTime";
import { loadFiles, type SavedDraft, type SavedPlace } from "./savedDraft";

export const MAX_PHOTOS = 10;
export const MAX_CAPTION_LENGTH = 2_200;
export const MAX_ALT_TEXT_LENGTH = 1_000;

export type Refusal = "tooMany" | "notMedia";
/** Why a draft cannot be published as it is. */
export type Obstacle = "empty" | "allFailed" | "captionTooLong" | "timePassed" | "placing";

const queue = new UploadQueue();

export class Draft {
  readonly key: string;
  readonly accountId: string;
  uploads = $state.raw<readonly Upload[]>([]);
  caption = $state("");
  place = $state.raw<SavedPlace | null>(null);
  /** The server is being told of the place that was chosen. */
  isPlacing = $state.raw(false);
  allowsComments = $state(true);
  hidesLikes = $state(false);
  /** When it is to be published, as an ISO date and time; null: at once. */
  publishAt = $state.raw<string | null>(null);
  /** Whether it shows camera, lens and exposure; null: as the account's setting says. */
  showsCamera = $state.raw<boolean | null>(null);
  isPublishing = $state.raw(false);
  /** Files that could not be kept on this device: they would not survive a reload. */
  unsavedFiles = $state.raw(0);
  #selectedId = $state.raw("");
  #request = $state.raw<NewPost | NewScheduledPost | null>(null);
  readonly #stopping = new AbortController();

  readonly selected = $derived(
    this.uploads.find(({ id }) => id === this.#selectedId) ?? this.uploads[0] ?? null,
  );
  readonly selectedIndex = $derived(this.selected === null ? 0 : this.uploads.indexOf(this.selected));
  readonly isEmpty = $derived(this.uploads.length === 0 && this.caption.trim() === "");
  /** Code points, as the server counts. */
  readonly captionLeft = $derived(MAX_CAPTION_LENGTH - [...this.caption].length);
  /** What the server refused; it is left out of the post. */
  readonly failed = $derived(this.uploads.filter(({ status }) => status === "failed"));
  readonly usable = $derived(this.uploads.filter(({ status }) => status !== "failed"));
  /** The server could not be reached: files wait for another attempt. */
  readonly isWaiting = $derived(
    this.usable.some(({ status, failure }) => status === "waiting" && failure !== null),
  );
  readonly undescribed = $derived(this.usable.filter(({ altText }) => altText.trim() === "").length);
  readonly obstacle = $derived.by((): Obstacle | null => {
    if (this.uploads.length === 0) return "empty";
    if (this.usable.length === 0) return "allFailed";
    if (this.captionLeft < 0) return "captionTooLong";
    if (this.isPlacing) return "placing";
    return this.publishAt !== null && !isPossible(new Date(this.publishAt)) ? "timePassed" : null;
  });
  /** The uploaded fraction of all files, 0 to 1. */
  readonly share = $derived.by(() => {
    const shares = this.usable.map(({ status, share }) => (status === "ready" ? 1 : share));
    return shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
  });

  constructor(accountId: string, key = randomId()) {
    this.accountId = accountId;
    this.key = key;
  }

  /** A draft as it was saved, with its files from this device; its uploads continue. */
  static async restore(saved: SavedDraft): Promise<Draft> {
    const draft = new Draft(saved.accountId, saved.key);
    const files = await loadFiles(saved.key);
    draft.uploads = saved.uploads.map((upload) => Upload.restore(upload, files.get(upload.id) ?? null));
    draft.caption = saved.caption;
    draft.place = saved.place;
    draft.allowsComments = saved.allowsComments;
    draft.hidesLikes = saved.hidesLikes;
    draft.publishAt = saved.publishAt ?? null;
    draft.showsCamera = saved.showsCamera ?? null;
    draft.isPublishing = saved.isPublishing;
    draft.#request = saved.request;
    for (const upload of draft.uploads) draft.#follow(upload);
    return draft;
  }

  get saved(): SavedDraft {
    const {
      key,
      accountId,
      isPublishing,
      caption,
      place,
      allowsComments,
      hidesLikes,
      publishAt,
      showsCamera,
    } = this;
    const uploads = this.uploads.map((upload) => upload.saved);
    const request = this.#request;
    return {
      key,
      accountId,
      isPublishing,
      request,
      uploads,
      caption,
      place,
      allowsComments,
      hidesLikes,
      publishAt,
      showsCamera,
      changed_ms: Date.now(),
    };
  }

  /** Adds files and starts uploading them; returns why some were left out, or null. */
  add(files: readonly File[]): Refusal | null {
    const known = files.filter(isMedia);
    const added = known.slice(0, MAX_PHOTOS - this.uploads.length).map((file) => new Upload(file));
    this.uploads = [...this.uploads, ...added];
    for (const upload of added) {
      if (upload.file) void this.#keepFile(upload.id, upload.file);
      this.#follow(upload);
    }
    if (added[0] && this.uploads.length > added.length) this.select(added[0]);
    if (added.length < known.length) return "tooMany";
    return known.length < files.length ? "notMedia" : null;
  }

  select(upload: Upload): void {
    this.#selectedId = upload.id;
  }

  /** Tries a refused file once more. */
  retry(upload: Upload): void {
    upload.startAgain();
    this.#follow(upload);
  }

  remove(upload: Upload): void {
    const at = this.uploads.indexOf(upload);
    upload.cancel();
    void draftFiles.remove(upload.id);
    this.uploads = this.uploads.filter(({ id }) => id !== upload.id);
    const next = this.uploads[Math.min(at, this.uploads.length - 1)];
    if (next && this.#selectedId === upload.id) this.select(next);
  }

  /** Moves the upload to this index. */
  move(upload: Upload, to: number): void {
    const others = this.uploads.filter(({ id }) => id !== upload.id);
    const at = Math.min(Math.max(to, 0), others.length);
    this.uploads = [...others.slice(0, at), upload, ...others.slice(at)];
  }

  /** From now on it is published in the background; files that were refused are left out. False where that is not possible. */
  submit(): boolean {
    if (this.isPublishing || this.obstacle !== null) return false;
    for (const upload of this.failed) this.remove(upload);
    this.isPublishing = true;
    return true;
  }

  /** Publishing did not work out: it can be changed again. */
  reopen(): void {
    this.isPublishing = false;
    this.#request = null;
  }

  /**
   * Publishes or schedules exactly once, however often it is called; null where the server refused a file. Rejects with a
   * Problem. What is sent is saved before, so that after a reload the very same is sent again.
   */
  async publish(save: () => Promise<void>): Promise<Post | ScheduledPost | null> {
    if (this.#request === null) {
      await Promise.all(this.usable.map((upload) => this.#send(upload)));
      if (this.failed.length > 0) return null;
      const mediaIds = await Promise.all(this.uploads.map((upload) => queue.run(() => upload.prepare())));
      this.#request = this.#content(mediaIds);
      await save();
    }
    const request = this.#request;
    const post = await ("publish_at" in request
      ? schedulePost(request, this.key)
      : api.publish(request, this.key));
    for (const [at, upload] of this.uploads.entries()) upload.release(request.media_ids[at]);
    return post;
  }

  /** The server no longer has the media of the post: all files are sent again. False where they are gone for good. */
  startAgain(): boolean {
    this.#request = null;
    return this.uploads.map((upload) => upload.startAgain()).every(Boolean);
  }

  /** Stops all work on it; what is stored here and on the server stays. */
  close(): void {
    this.#stopping.abort();
    for (const upload of this.uploads) upload.stop();
  }

  /** Stops all work on it and deletes what the server has of it. */
  discard(): void {
    this.#stopping.abort();
    for (const upload of this.uploads) upload.cancel();
  }

  #follow(upload: Upload): void {
    upload.onFileReplaced = (file) => void this.#keepFile(upload.id, file);
    this.#send(upload).catch(() => {}); // The session has ended: continues when its owner signs in again.
  }

  /** Sends a file until the server has it or refuses it. Rejects only when the session has ended or the draft was closed. */
  async #send(upload: Upload): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = new Backoff();
    for (;;) {
      try {
        return await queue.run(() => upload.send());
      } catch (error) {
        if (signal.aborted || classifyFailure(error) !== "retry") throw error;
        await backoff.wait(signal, error instanceof Problem ? error.retryAfterS * 1_000 : 0);
      }
    }
  }

  async #keepFile(key: string, file: File): Promise<void> {
    await draftFiles.put({ key, accountId: this.accountId, draft: this.key, file });
    if (!draftFiles.isPersistent) this.unsavedFiles += 1;
  }

  #content(mediaIds: readonly string[]): NewPost | NewScheduledPost {
    return {
      ...(this.publishAt === null ? {} : { publish_at: this.publishAt }),
      media_ids: [...mediaIds],
      caption: this.caption.trim(),
      alt_texts: this.uploads.map(({ altText }) => altText.trim()),
      tagged: this.uploads.flatMap(({ tags }, at) =>
        tags.map(({ account_id, x, y }) => ({
          media_id: mediaIds[at] ?? "",
          account_id,
          x: Math.min(Math.max(x, 0), 1),
          y: Math.min(Math.max(y, 0), 1),
        })),
      ),
      place: this.place,
      comments_enabled: this.allowsComments,
      hides_like_count: this.hidesLikes,
      ...(this.showsCamera === null ? {} : { shows_camera: this.showsCamera }),
    };
  }
}

/** By MIME type, or by name: some systems leave the type of HEIC and MOV files empty. */
function isMedia(file: File): boolean {
  return /^(image|video)\//.test(file.type) || /\.(heic|heif|mov|mp4)$/i.test(file.name);
}
