/** A sheet at the lower edge that follows the finger down: let go far enough or quickly enough, it closes. */

/** The share of its height after which letting go closes it. */
const CLOSE_SHARE = 0.3;
const FLING_PX_PER_MS = 0.5;

export class SheetDrag {
  /** How far the sheet has been pulled down. */
  offset_px = $state.raw(0);
  isDragging = $state.raw(false);
  #from: { y: number; at_ms: number } | null = null;
  readonly #onclose: () => void;

  constructor(onclose: () => void) {
    this.#onclose = onclose;
  }

  /** For `pointerdown` on the handle. */
  readonly down = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    if (event.target instanceof Element && event.target.closest("button, select")) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    this.#from = { y: event.clientY, at_ms: event.timeStamp };
    this.isDragging = true;
  };

  readonly move = (event: PointerEvent): void => {
    if (this.#from !== null) this.offset_px = Math.max(0, event.clientY - this.#from.y);
  };

  readonly up = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    if (this.#from === null) return;
    const height_px = event.currentTarget.closest("dialog")?.offsetHeight ?? innerHeight;
    const speed = this.offset_px / Math.max(1, event.timeStamp - this.#from.at_ms);
    const isClosing =
      this.offset_px > height_px * CLOSE_SHARE || (this.offset_px > 20 && speed > FLING_PX_PER_MS);
    this.cancel();
    if (isClosing) this.#onclose();
  };

  readonly cancel = (): void => {
    this.#from = null;
    this.isDragging = false;
    this.offset_px = 0;
  };
}
