/**
 * Renders an edit on a canvas in real time, in the colours that the server will produce.
 *
 * The photo should be an `ImageBitmap` of about the displayed size: `createImageBitmap` applies its orientation and converts it
 * to sRGB, as the server does.
 */
import { amounts, type Edit, type Look } from "./edit";
import { fold } from "./fold";
import { frame } from "./geometry";
import { loadStrip } from "./lutStrip";
import { type Photo, WebGlRenderer } from "./webglRenderer";

export interface Preview {
  /** Resolves once this edit is rendered, or superseded by a later one. */
  render(photo: Photo, edit: Edit): Promise<void>;
  /** Releases the GPU memory; the canvas cannot be used again. */
  close(): void;
}

/** A preview on this canvas; null where the browser has no WebGL 2. */
export function createPreview(
  canvas: HTMLCanvasElement | OffscreenCanvas,
  looks: readonly Look[],
): Preview | null {
  const renderer = WebGlRenderer.create(canvas);
  if (!renderer) return null;
  const strips = new StripCache();
  let latest = 0;
  let last: (() => void) | null = null;
  renderer.onRestored = () => last?.();

  return {
    async render(photo, edit) {
      const request = ++latest;
      const look = looks.find((each) => each.id === edit.look) ?? null;
      const strip = look && edit.strength > 0 ? await strips.get(look.strip) : null;
      if (request !== latest) return;
      last = () =>
        renderer.render(photo, {
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
      latest++;
      last = null;
      renderer.close();
    },
  };
}

/** Two edits with the same key have the same table. */
function tableKey(edit: Edit): string {
  const { look, strength, brightness, contrast, saturation, warmth } = edit;
  return JSON.stringify([look, strength, brightness, contrast, saturation, warmth]);
}

/** Cache of LUT strips; a failed one is fetched again. */
class StripCache {
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
