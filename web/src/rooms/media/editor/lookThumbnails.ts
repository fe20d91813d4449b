/** Thumbnails of every look on this photo, rendered one after the other by a single WebGL canvas. */
import { createPreview, type Edit, type Look, PLAIN, type Preview } from "../looks";

const WIDTH = 144;

export class LookThumbnails {
  readonly #canvas = document.createElement("canvas");
  readonly #preview: Preview | null;
  readonly #photo: Promise<ImageBitmap>;
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(photo: ImageBitmap, looks: readonly Look[]) {
    this.#preview = createPreview(this.#canvas, looks);
    this.#photo = createImageBitmap(photo, {
      resizeWidth: Math.min(WIDTH, photo.width),
      resizeQuality: "medium",
    });
  }

  /** For `{@attach}`: renders the look once the canvas scrolls into view. */
  show(look: string | null, edit: Edit): (canvas: HTMLCanvasElement) => () => void {
    const { turns, mirrored } = edit;
    return (canvas) => {
      const watcher = new IntersectionObserver((seen) => {
        if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
        watcher.disconnect();
        this.#last = this.#last.then(() => this.#draw(canvas, { ...PLAIN, look, turns, mirrored }));
      });
      watcher.observe(canvas);
      return () => watcher.disconnect();
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#preview?.close();
    this.#photo.then(
      (photo) => photo.close(),
      () => {},
    );
  }

  async #draw(canvas: HTMLCanvasElement, edit: Edit): Promise<void> {
    if (this.#isClosed || this.#preview === null) return;
    try {
      const photo = await this.#photo;
      await this.#preview.render(photo, edit);
      canvas.width = this.#canvas.width;
      canvas.height = this.#canvas.height;
      canvas.getContext("2d")?.drawImage(this.#canvas, 0, 0);
    } catch {
      // Thumbnails are best effort: the look can be chosen by its name.
    }
  }
}
