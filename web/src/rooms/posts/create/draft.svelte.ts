/**
 * The post being made. It outlives its page, so that looking something up elsewhere loses nothing, and
 * its key makes publishing safe to repeat after a lost answer.
 */
import { randomId } from "../../../base/random";
import { api, type Post } from "../../../client";
import { session } from "../../accounts";
import { Line, Upload } from "../../media";

export const MOST_PHOTOS = 10;
export const LONGEST_CAPTION = 2_200;
export const LONGEST_ALT_TEXT = 1_000;

export type Refusal = "tooMany" | "notImages";

export class Draft {
  uploads = $state.raw<readonly Upload[]>([]);
  caption = $state("");
  isPublishing = $state.raw(false);
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

  /** The photos are in the draft and on their way; the answer says what was left out, and why. */
  add(files: readonly File[]): Refusal | null {
    const photos = files.filter(isPhoto);
    const taken = photos.slice(0, MOST_PHOTOS - this.uploads.length).map((file) => new Upload(file));
    this.uploads = [...this.uploads, ...taken];
    for (const upload of taken) this.#line.add(() => upload.send());
    if (taken.length < photos.length) return "tooMany";
    return photos.length < files.length ? "notImages" : null;
  }

  retry(upload: Upload): void {
    this.#line.add(() => upload.send());
  }

  remove(upload: Upload): void {
    upload.cancel();
    this.uploads = this.uploads.filter(({ id }) => id !== upload.id);
  }

  /** The post exists, once, and the draft is empty; or `failure` says why not and nothing is lost. */
  async publish(): Promise<Post | null> {
    if (!this.mayPublish) return null;
    this.isPublishing = true;
    this.failure = null;
    try {
      const post = await api.publish(this.#content(), this.#key);
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

  #content() {
    return {
      media_ids: this.uploads.flatMap(({ media }) => media?.media_id ?? []),
      caption: this.caption.trim(),
      alt_texts: this.uploads.map(({ altText }) => altText.trim()),
    };
  }

  #empty(): void {
    this.uploads = [];
    this.caption = "";
    this.failure = null;
    this.#key = randomId();
  }
}

/** Some systems leave the type of a HEIC file empty; its name then has to do. */
function isPhoto(file: File): boolean {
  return file.type.startsWith("image/") || /\.(heic|heif)$/i.test(file.name);
}

export const draft = new Draft();
session.whenChanged(() => draft.discard());
