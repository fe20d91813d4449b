/**
 * The draft of a post. It outlives its page, so that browsing elsewhere loses nothing; what has been uploaded also survives a
 * reload. Its idempotency key makes publishing safe to repeat after a lost response.
 */
import { randomId } from "../../../base/random";
import { api, type NewPost, type Post } from "../../../client";
import { session } from "../../accounts";
import { Upload, UploadQueue } from "../../media";
import { loadDraft, type SavedDraft, type SavedPlace, saveDraft } from "./savedDraft";

export const MAX_PHOTOS = 10;
export const MAX_CAPTION_LENGTH = 2_200;
export const MAX_ALT_TEXT_LENGTH = 1_000;

export type Refusal = "tooMany" | "notMedia";

export class Draft {
  uploads = $state.raw<readonly Upload[]>([]);
  caption = $state("");
  place = $state.raw<SavedPlace | null>(null);
  allowsComments = $state(true);
  hidesLikes = $state(false);
  isPublishing = $state.raw(false);
  isRestoring = $state.raw(false);
  failure = $state.raw<unknown>(null);
  #key = randomId();
  readonly #queue = new UploadQueue();

  /** Code points, as the server counts. */
  readonly captionLeft = $derived(MAX_CAPTION_LENGTH - [...this.caption].length);
  readonly undescribed = $derived(this.uploads.filter(({ altText }) => altText.trim() === "").length);
  readonly mayPublish = $derived(
    !this.isPublishing &&
      this.captionLeft >= 0 &&
      this.uploads.length > 0 &&
      this.uploads.every(({ status }) => status === "ready"),
  );

  /** Adds files and starts uploading them; returns why some were left out, or null. */
  add(files: readonly File[]): Refusal | null {
    const known = files.filter(isMedia);
    const added = known.slice(0, MAX_PHOTOS - this.uploads.length).map((file) => new Upload(file));
    this.uploads = [...this.uploads, ...added];
    for (const upload of added) this.#queue.add(() => upload.send());
    if (added.length < known.length) return "tooMany";
    return known.length < files.length ? "notMedia" : null;
  }

  retry(upload: Upload): void {
    this.#queue.add(() => upload.send());
  }

  remove(upload: Upload): void {
    upload.cancel();
    this.uploads = this.uploads.filter(({ id }) => id !== upload.id);
  }

  /** Moves the upload to this index. */
  move(upload: Upload, to: number): void {
    const others = this.uploads.filter(({ id }) => id !== upload.id);
    const at = Math.min(Math.max(to, 0), others.length);
    this.uploads = [...others.slice(0, at), upload, ...others.slice(at)];
  }

  /** Publishes exactly once and empties the draft, or sets `failure` and keeps it. */
  async publish(): Promise<Post | null> {
    if (!this.mayPublish) return null;
    this.isPublishing = true;
    this.failure = null;
    try {
      const post = await api.publish(this.#content(), this.#key);
      for (const upload of this.uploads) upload.release();
      this.#empty();
      return post;
    } catch (error) {
      this.failure = error;
      return null;
    } finally {
      this.isPublishing = false;
    }
  }

  discard(): void {
    for (const upload of this.uploads) upload.cancel();
    this.#empty();
  }

  /** What to save for a reload; null when there is nothing. */
  get saved(): SavedDraft | null {
    const uploads = this.uploads.flatMap((upload) => upload.saved ?? []);
    if (uploads.length === 0) return null;
    const { caption, place, allowsComments, hidesLikes } = this;
    return { key: this.#key, uploads, caption, place, allowsComments, hidesLikes };
  }

  /** Restores a saved draft, as far as the server still has its uploads. */
  async restore(saved: SavedDraft): Promise<void> {
    if (this.uploads.length > 0 || this.isRestoring) return;
    this.isRestoring = true;
    const uploads = await Promise.all(saved.uploads.map((upload) => Upload.restore(upload)));
    this.isRestoring = false;
    if (this.uploads.length > 0) return;
    this.uploads = uploads.filter((upload) => upload !== null);
    this.caption = saved.caption;
    this.place = saved.place;
    this.allowsComments = saved.allowsComments;
    this.hidesLikes = saved.hidesLikes;
    this.#key = saved.key;
  }

  #content(): NewPost {
    return {
      media_ids: this.uploads.flatMap(({ media }) => media?.media_id ?? []),
      caption: this.caption.trim(),
      alt_texts: this.uploads.map(({ altText }) => altText.trim()),
      tagged: this.uploads.flatMap(({ media, tags }) =>
        media === null
          ? []
          : tags.map(({ account_id, x, y }) => ({ media_id: media.media_id, account_id, x, y })),
      ),
      place: this.place,
      comments_enabled: this.allowsComments,
      hides_like_count: this.hidesLikes,
    };
  }

  #empty(): void {
    this.uploads = [];
    this.caption = "";
    this.place = null;
    this.allowsComments = true;
    this.hidesLikes = false;
    this.failure = null;
    this.#key = randomId();
  }
}

/** By MIME type, or by name: some systems leave the type of HEIC and MOV files empty. */
function isMedia(file: File): boolean {
  return /^(image|video)\//.test(file.type) || /\.(heic|heif|mov|mp4)$/i.test(file.name);
}

export const draft = new Draft();
let stopPersisting: (() => void) | null = null;

session.onChange(() => {
  stopPersisting?.();
  stopPersisting = null;
  draft.discard();
});

/** Restores the saved draft, then saves it on every change. */
export async function persistDraft(): Promise<void> {
  const accountId = session.account?.account_id;
  if (accountId === undefined || stopPersisting !== null) return;
  stopPersisting = () => {};
  const saved = loadDraft(accountId);
  if (saved !== null) await draft.restore(saved);
  if (session.account?.account_id !== accountId) return;
  stopPersisting = $effect.root(() => {
    $effect(() => saveDraft(accountId, draft.saved));
  });
}
