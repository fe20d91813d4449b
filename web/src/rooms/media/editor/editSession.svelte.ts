/** The editing of one photo: the edit so far, the decoded photo and the looks to choose from. */
import { decodePhoto } from "../decodePhoto";
import { loadLooks } from "../editRenderer";
import type { Crop, Edit, Look } from "../looks/edit";
import { isPlain, PLAIN } from "../looks/edit";
import { largest, mirror, ratioOf, type Shape } from "./crop";

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
  readonly #onchange: (edit: Edit) => void;

  constructor(edit: Edit, fixed: Shape | null = null, onchange: (edit: Edit) => void = () => {}) {
    this.edit = edit;
    this.#isFixed = fixed !== null;
    this.#onchange = onchange;
    if (fixed !== null) this.shape = fixed;
  }

  /** Edits a photo that is decoded already; `failure` is set when the looks cannot be loaded, the other tools work without. */
  async use(photo: ImageBitmap): Promise<void> {
    this.photo = photo;
    this.failure = null;
    try {
      this.looks = await loadLooks();
    } catch (error) {
      this.failure = error;
    }
  }

  /** Loads the photo and the looks, or sets `failure`. */
  async open(original: () => Promise<Blob>): Promise<void> {
    this.failure = null;
    try {
      const [photo, looks] = await Promise.all([original().then(decodePhoto), loadLooks()]);
      this.photo = photo;
      this.looks = looks;
      if (this.#isFixed && isPlain(this.edit)) this.setShape(this.shape);
    } catch (error) {
      this.failure = error;
    }
  }

  set(change: Partial<Edit>): void {
    this.edit = { ...this.edit, ...change };
    this.#onchange(this.edit);
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
    this.set(PLAIN);
    if (this.#isFixed) this.setShape(this.shape);
    else this.shape = "free";
  }

  close(): void {
    this.photo?.close();
    this.photo = null;
  }
}
