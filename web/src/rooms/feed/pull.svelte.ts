/** Pulling the page down at its top to refresh it, by touch. The indicator follows the finger, ever more slowly. */

/** Letting go after the indicator has moved this far refreshes. */
export const REFRESH_PX = 64;
const MAX_PX = 96;
/** A finger may move this much before a pull begins: taps and sideways swipes stay what they are. */
const SLOP_PX = 10;

/** Where the indicator is after the finger has moved down by this much. */
export function pulledTo(finger_px: number): number {
  const beyond = Math.max(0, finger_px - SLOP_PX);
  return MAX_PX * (1 - Math.exp(-beyond / (MAX_PX * 1.6)));
}

export class Pull {
  /** How far the indicator is below the edge. */
  offset_px = $state.raw(0);
  isRefreshing = $state.raw(false);
  readonly isReady = $derived(this.offset_px >= REFRESH_PX);
  readonly #refresh: () => Promise<unknown>;
  #from: { x: number; y: number } | null = null;

  constructor(refresh: () => Promise<unknown>) {
    this.#refresh = refresh;
  }

  /** Listens to touches until the returned function is called; made for `$effect`. */
  listen(): () => void {
    const options = { passive: true } as const;
    addEventListener("touchstart", this.#start, options);
    addEventListener("touchmove", this.#move, options);
    addEventListener("touchend", this.#end, options);
    addEventListener("touchcancel", this.#cancel, options);
    // The browser's own pull would reload the whole page.
    const page = document.documentElement.style;
    page.overscrollBehaviorY = "contain";
    return () => {
      removeEventListener("touchstart", this.#start);
      removeEventListener("touchmove", this.#move);
      removeEventListener("touchend", this.#end);
      removeEventListener("touchcancel", this.#cancel);
      page.overscrollBehaviorY = "";
    };
  }

  readonly #start = ({ touches, target }: TouchEvent): void => {
    const finger = touches[0];
    const isOnDialog = target instanceof Element && target.closest("dialog") !== null;
    const isPull = finger !== undefined && touches.length === 1 && scrollY <= 0 && !isOnDialog;
    this.#from = isPull && !this.isRefreshing ? { x: finger.clientX, y: finger.clientY } : null;
  };

  readonly #move = ({ touches }: TouchEvent): void => {
    const finger = touches[0];
    if (this.#from === null || finger === undefined) return;
    const down = finger.clientY - this.#from.y;
    const isSideways =
      this.offset_px === 0 && Math.abs(finger.clientX - this.#from.x) > Math.max(SLOP_PX, down);
    if (scrollY > 0 || isSideways || touches.length > 1) this.#cancel();
    else this.offset_px = pulledTo(down);
  };

  readonly #end = async (): Promise<void> => {
    if (this.#from === null) return;
    this.#from = null;
    if (!this.isReady) return this.#cancel();
    this.isRefreshing = true;
    this.offset_px = REFRESH_PX;
    try {
      await this.#refresh();
    } finally {
      this.isRefreshing = false;
      this.offset_px = 0;
    }
  };

  readonly #cancel = (): void => {
    this.#from = null;
    if (!this.isRefreshing) this.offset_px = 0;
  };
}
