/**
 * Shows an edit on a canvas as fast as a slider moves, in the colours that the server will make.
 *
 * The photo should be an `ImageBitmap` of about the size shown: `createImageBitmap` turns it upright and converts its
 * colours to sRGB, as the server does.
 */
import { amounts, type Edit, type Look } from "./edit";
import { fold } from "./fold";
import { frame } from "./geometry";
import { Painter, type Photo } from "./painter";
import { loadStrip } from "./strip";

export interface Preview {
  /** Resolves once this edit is on the canvas, or a later one is wanted instead. */
  render(photo: Photo, edit: Edit): Promise<void>;
  /** Gives the GPU's memory back; the canvas cannot be used again. */
  close(): void;
}

/** A preview on this canvas, or nothing where the browser has no WebGL 2. */
export function createPreview(
  canvas: HTMLCanvasElement | OffscreenCanvas,
  looks: readonly Look[],
): Preview | null {
  const painter = Painter.on(canvas);
  if (!painter) return null;
  const strips = new Strips();
  let wanted = 0;
  let last: (() => void) | null = null;
  painter.onRestored = () => last?.();

  return {
    async render(photo, edit) {
      const turn = ++wanted;
      const look = looks.find((each) => each.id === edit.look) ?? null;
      const strip = look && edit.strength > 0 ? await strips.get(look.strip) : null;
      if (turn !== wanted) return;
      last = () =>
        painter.paint(photo, {
          frame: frame(photo.width, photo.height, edit),
          turns: edit.turns,
          mirrored: edit.mirrored,
          tableKey: tableKey(edit),
          table: () => fold(edit, strip),
          ...amounts(edit, look),
        });
      last();
    },
    close() {
      wanted++;
      last = null;
      painter.close();
    },
  };
}

/** Two edits with the same key have the same table. */
function tableKey(edit: Edit): string {
  const { look, strength, brightness, contrast, saturation, warmth } = edit;
  return JSON.stringify([look, strength, brightness, contrast, saturation, warmth]);
}

/** Strips already fetched; one that failed is asked for again. */
class Strips {
  readonly #known = new Map<string, Promise<Uint8Array>>();

  get(address: string): Promise<Uint8Array> {
    const known = this.#known.get(address);
    if (known) return known;
    const loading = loadStrip(address);
    loading.catch(() => this.#known.delete(address));
    this.#known.set(address, loading);
    return loading;
  }
}
