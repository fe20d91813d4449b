/** The editing of one photo: the edit so far, the decoded photo and the looks to choose from. */
import { listLooks } from "../../../client/media";
import type { Crop, Edit, Look } from "../looks/edit";
import { isPlain, PLAIN } from "../looks/edit";
import { largest, mirror, ratioOf, type Shape } from "./crop";

/** The width of the server's largest rendition: more pixels would never be seen. */
const LONGEST_SIDE = 1_080;

export class EditSession {
  edit = $state.raw<Edit>(PLAIN);
  shape = $state.raw<Shape>("free");
  photo = $state.raw<ImageBitmap | null>(null);
  looks = $state.raw<readonly Look[]>([]);
  failure = $state.raw<unknown>(null);
  readonly isPlain = $derived(isPlain(this.edit));
  /** Width to height of the picture after turning, before the crop. */
  readonly pictureRatio = $derived.by(() => {
    if (this.photo === null) return 1;
    const ratio = this.photo.width / this.photo.height;
    return this.edit.turns % 2 === 1 ? 1 / ratio : ratio;
  });
  readonly ratio = $derived(ratioOf(this.shape, this.pictureRatio));
  readonly #isFixed: boolean;

  constructor(edit: Edit, fixed: Shape | null = null) {
    this.edit = edit;
    this.#isFixed = fixed !== null;
    if (fixed !== null) this.shape = fixed;
  }

  /** Loads the photo and the looks, or sets `failure`. */
  async open(original: () => Promise<Blob>): Promise<void> {
    this.failure = null;
    try {
      const [photo, looks] = await Promise.all([original().then(decode), listLooks()]);
      this.photo = photo;
      this.looks = looks;
      if (this.#isFixed && isPlain(this.edit)) this.setShape(this.shape);
    } catch (error) {
      this.failure = error;
    }
  }

  set(change: Partial<Edit>): void {
    this.edit = { ...this.edit, ...change };
  }

  crop(crop: Crop): void {
    this.set({ crop });
  }

  setShape(shape: Shape): void {
    this.shape = shape;
    this.crop(largest(this.ratio, this.pictureRatio));
  }

  /** Rotates by 90 degrees clockwise as seen on screen, also when mirrored. */
  rotate(): void {
    this.set({ turns: (this.edit.turns + (this.edit.mirrored ? 3 : 1)) % 4 });
    this.crop(largest(this.ratio, this.pictureRatio));
  }

  mirror(): void {
    this.set({
      mirrored: !this.edit.mirrored,
      straighten: -this.edit.straighten || 0,
      crop: mirror(this.edit.crop),
    });
  }

  reset(): void {
    this.edit = PLAIN;
    if (this.#isFixed) this.setShape(this.shape);
    else this.shape = "free";
  }

  close(): void {
    this.photo?.close();
    this.photo = null;
  }
}

async function decode(blob: Blob): Promise<ImageBitmap> {
  const whole = await createImageBitmap(blob);
  const scale = LONGEST_SIDE / Math.max(whole.width, whole.height);
  if (scale >= 1) return whole;
  const resizeWidth = Math.max(1, Math.round(whole.width * scale));
  const resizeHeight = Math.max(1, Math.round(whole.height * scale));
  const small = await createImageBitmap(whole, { resizeWidth, resizeHeight, resizeQuality: "high" });
  whole.close();
  return small;
}
