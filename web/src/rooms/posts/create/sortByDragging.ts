/** Sorting by dragging: with a mouse at once, with a finger after a hold, because moving at once scrolls. */

export interface Sorting {
  /** The element at this index is picked up. */
  readonly onstart: (index: number) => void;
  /** It belongs at this index now. */
  readonly onmove: (index: number) => void;
  readonly onend: () => void;
}

const HOLD_MS = 300;
/** A pointer that moved less has clicked. */
const SLOP_PX = 6;

/** For `{@attach}`: lets the children of the element be dragged to other positions. */
export function sortByDragging(sorting: Sorting): (list: HTMLElement) => () => void {
  return (list) => {
    const listeners = new AbortController();
    const { signal } = listeners;
    let isDragging = false;

    function press(event: PointerEvent): void {
      const index = [...list.children].findIndex((child) => child.contains(event.target as Node));
      if (index < 0 || event.button !== 0 || list.children.length < 2) return;
      const isTouch = event.pointerType !== "mouse";
      const released = new AbortController();
      const options = { signal: AbortSignal.any([released.signal, signal]) };
      const hold = isTouch ? setTimeout(start, HOLD_MS) : undefined;

      function start(): void {
        isDragging = true;
        sorting.onstart(index);
      }

      function follow(now: PointerEvent): void {
        if (now.pointerId !== event.pointerId) return;
        const hasMoved = Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) > SLOP_PX;
        if (!isDragging && hasMoved) {
          if (isTouch) end();
          else start();
        }
        if (isDragging) sorting.onmove(indexAt(list, now.clientX));
      }

      function end(): void {
        clearTimeout(hold);
        released.abort();
        if (isDragging) sorting.onend();
        isDragging = false;
      }

      window.addEventListener("pointermove", follow, options);
      for (const name of ["pointerup", "pointercancel"] as const) window.addEventListener(name, end, options);
    }

    list.addEventListener("pointerdown", press, { signal });
    // The browser would scroll, or drag the image of a canvas, instead.
    list.addEventListener("touchmove", (event) => isDragging && event.preventDefault(), {
      signal,
      passive: false,
    });
    list.addEventListener("dragstart", (event) => event.preventDefault(), { signal });
    list.addEventListener("contextmenu", (event) => isDragging && event.preventDefault(), { signal });
    return () => listeners.abort();
  };
}

/** The index of the child at this horizontal position, or of the nearest one. */
export function indexAt(list: HTMLElement, x: number): number {
  const distances = [...list.children].map((child) => {
    const { left, width } = child.getBoundingClientRect();
    return Math.abs(left + width / 2 - x);
  });
  return distances.indexOf(Math.min(...distances));
}
