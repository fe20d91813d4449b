/** Draws photos with their edits onto canvases, one after the other, by a single WebGL canvas: browsers allow only a few. */
import { listLooks } from "../../client/media";
import { createPreview, type Edit, isPlain, type Look, type Preview } from "./looks";

let loading: Promise<readonly Look[]> | null = null;

/** All looks; asked for once, and again after a failure. */
export function loadLooks(): Promise<readonly Look[]> {
  loading ??= listLooks().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

class EditRenderer {
  #canvas: HTMLCanvasElement | null = null;
  #preview: Preview | null = null;
  #hasLooks = false;
  #last: Promise<void> = Promise.resolve();
  /** The latest drawing asked for of each canvas: earlier ones that still wait are dropped. */
  readonly #latest = new WeakMap<HTMLCanvasElement, object>();

  /** Draws the photo with its edit, scaled so that its longest side has at most so many pixels. */
  draw(target: HTMLCanvasElement, photo: ImageBitmap, edit: Edit, longest: number): void {
    const drawing = {};
    this.#latest.set(target, drawing);
    this.#last = this.#last.then(async () => {
      if (this.#latest.get(target) !== drawing) return;
      copy(target, (await this.#render(photo, edit).catch(() => null)) ?? photo, longest);
    });
  }

  /** The photo with its edit; null where the browser has no WebGL 2. */
  async #render(photo: ImageBitmap, edit: Edit): Promise<HTMLCanvasElement | ImageBitmap | null> {
    if (isPlain(edit)) return photo;
    this.#canvas ??= document.createElement("canvas");
    if (this.#preview === null || (!this.#hasLooks && edit.look !== null)) {
      const looks = await loadLooks().catch(() => []);
      this.#hasLooks = looks.length > 0;
      this.#preview = createPreview(this.#canvas, looks);
    }
    if (this.#preview === null) return null;
    await this.#preview.render(photo, edit);
    return this.#canvas;
  }
}

function copy(target: HTMLCanvasElement, picture: HTMLCanvasElement | ImageBitmap, longest: number): void {
  const { width, height } = picture;
  if (width === 0) return; // Closed meanwhile.
  const share = Math.min(1, longest / Math.max(width, height));
  target.width = Math.max(1, Math.round(width * share));
  target.height = Math.max(1, Math.round(height * share));
  const pen = target.getContext("2d");
  if (pen === null) return;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(picture, 0, 0, target.width, target.height);
}

export const editRenderer = new EditRenderer();
