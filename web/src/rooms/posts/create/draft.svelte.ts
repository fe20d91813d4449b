/**
 * The post being made. It outlives its page, so that looking something up elsewhere loses nothing; what has
 * reached the server outlives a reload too. Its key makes publishing safe to repeat after a lost answer.
 */
import { randomId } from "../../../base/random";
import { api, type NewPost, type Post } from "../../../client";
import { session } from "../../accounts";
import { Line, Upload } from "../../media";
import { findDraft, keepDraft, type SavedDraft, type SavedPlace } from "./keeping";

export const MOST_PHOTOS = 10;
export const LONGEST_CAPTION = 2_200;
export const LONGEST_ALT_TEXT = 1_000;

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
  readonly #line = new Line();

  /** Code points, as the server counts. */
  readonly captionLeft = $derived(LONGEST_CAPTION - [...this.caption].length);
  readonly undescribed = $derived(this.uploads.filter(({ altText }) => altText.trim() === "").length);
  readonly mayPublish = $derived(
    !this.isPublishing &&
      this.captionLeft >= 0 &&
      this.uploads.length > 0 &&
      this.uploads.every(({ status }) => status === "ready"),
  );

  /** The files are in the draft and on their way; the answer says what was left out, and why. */
  add(files: readonly File[]): Refusal | null {
    const known = files.filter(isMedia);
    const taken = known.slice(0, MOST_PHOTOS - this.uploads.length).map((file) => new Upload(file));
    this.uploads = [...this.uploads, ...taken];
    for (const upload of taken) this.#line.add(() => upload.send());
    if (taken.length < known.length) return "tooMany";
    return known.length < files.length ? "notMedia" : null;
  }

  retry(upload: Upload): void {
    this.#line.add(() => upload.send());
  }

  remove(upload: Upload): void {
    upload.cancel();
    this.uploads = this.uploads.filter(({ id }) => id !== upload.id);
  }

  /** The upload stands at this place; the others make room. */
  move(upload: Upload, to: number): void {
    const others = this.uploads.filter(({ id }) => id !== upload.id);
    const at = Math.min(Math.max(to, 0), others.length);
    this.uploads = [...others.slice(0, at), upload, ...others.slice(at)];
  }

  /** The post exists, once, and the draft is empty; or `failure` says why not and nothing is lost. */
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

  /** What to remember for after a reload; null when there is nothing. */
  get saved(): SavedDraft | null {
    const uploads = this.uploads.flatMap((upload) => upload.saved ?? []);
    if (uploads.length === 0) return null;
    const { caption, place, allowsComments, hidesLikes } = this;
    return { key: this.#key, uploads, caption, place, allowsComments, hidesLikes };
  }

  /** What was kept is here again, as far as the server still has it. */
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
        media === null ? [] : tags.map(({ user_id, x, y }) => ({ media_id: media.media_id, user_id, x, y })),
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

/** Some systems leave the type of a HEIC or MOV file empty; its name then has to do. */
function isMedia(file: File): boolean {
  return /^(image|video)\//.test(file.type) || /\.(heic|heif|mov|mp4)$/i.test(file.name);
}

export const draft = new Draft();
let stopKeeping: (() => void) | null = null;

session.whenChanged(() => {
  stopKeeping?.();
  stopKeeping = null;
  draft.discard();
});

/** What was kept has come back, and from now on the draft is remembered. */
export async function keepDrafts(): Promise<void> {
  const accountId = session.account?.account_id;
  if (accountId === undefined || stopKeeping !== null) return;
  stopKeeping = () => {};
  const saved = findDraft(accountId);
  if (saved !== null) await draft.restore(saved);
  if (session.account?.account_id !== accountId) return;
  stopKeeping = $effect.root(() => {
    $effect(() => keepDraft(accountId, draft.saved));
  });
}
