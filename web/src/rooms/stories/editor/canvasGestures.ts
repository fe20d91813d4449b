/**
 * Pointers on the story canvas: one finger or the mouse drags an element, a second finger anywhere turns and enlarges it, the corner
 * handle does both for the mouse; a swipe on the bare picture changes the look. Dropped on the bin, the element is removed.
 */
import type { Placement } from "../elements/types";
import { handled, moved, type Point, snapped } from "./placement";
import type { StoryEditor } from "./storyEditor.svelte";

const SWIPE_PX = 60;
const SLOP_PX = 6;

interface Grip {
  readonly key: string;
  readonly start: Placement;
  readonly from: ReadonlyMap<number, Point>;
  readonly isHandle: boolean;
}

export class CanvasGestures {
  readonly #editor: StoryEditor;
  readonly #onswipe: (by: 1 | -1) => void;
  readonly #pointers = new Map<number, Point>();
  #grip: Grip | null = null;
  #origin: Point | null = null;
  #hasMoved = false;
  #wasSelected = false;

  constructor(editor: StoryEditor, onswipe: (by: 1 | -1) => void) {
    this.#editor = editor;
    this.#onswipe = onswipe;
  }

  down(event: PointerEvent, canvas: HTMLElement): void {
    if (event.button !== 0 || this.#editor.tool !== "arrange") return;
    if (event.isPrimary) this.#pointers.clear();
    this.#pointers.set(event.pointerId, pointOf(event));
    canvas.setPointerCapture(event.pointerId);
    if (event.isPrimary) {
      this.#origin = pointOf(event);
      this.#hasMoved = false;
      const target = event.target instanceof Element ? event.target : null;
      const key = target?.closest<HTMLElement>("[data-key]")?.dataset["key"] ?? null;
      this.#wasSelected = key !== null && key === this.#editor.selectedKey;
      this.#editor.selectedKey = key;
      this.#take(target?.closest("[data-handle]") != null);
    } else this.#take(false);
  }

  move(event: PointerEvent, canvas: HTMLElement, trash: Element | null): void {
    if (!this.#pointers.has(event.pointerId)) return;
    this.#pointers.set(event.pointerId, pointOf(event));
    const grip = this.#grip;
    if (grip === null) return;
    if (this.#origin && Math.hypot(event.clientX - this.#origin.x, event.clientY - this.#origin.y) > SLOP_PX)
      this.#hasMoved = true;
    if (!this.#hasMoved && this.#pointers.size === 1) return;
    this.#editor.begin();
    this.#editor.isDragging = !grip.isHandle;
    const box = canvas.getBoundingClientRect();
    const to = [...grip.from.keys()].map((id) => this.#pointers.get(id) ?? { x: 0, y: 0 });
    const from = [...grip.from.values()];
    const next = grip.isHandle
      ? handled(grip.start, from[0] ?? { x: 0, y: 0 }, to[0] ?? { x: 0, y: 0 }, centreOf(grip.start, box))
      : moved(grip.start, from, to, box);
    const { placement, guides } = snapped(next, halfSize(canvas, grip.key, box));
    this.#editor.guides = grip.isHandle ? { x: null, y: null } : guides;
    this.#editor.place(grip.key, placement);
    this.#editor.isOverTrash = this.#pointers.size === 1 && !grip.isHandle && isInside(event, trash);
  }

  up(event: PointerEvent): void {
    if (!this.#pointers.delete(event.pointerId)) return;
    const { isOverTrash } = this.#editor;
    if (this.#grip === null) this.#swipe(event);
    if (this.#pointers.size > 0) {
      this.#take(false); // The other finger goes on from here.
      return;
    }
    const key = this.#grip?.key;
    this.#grip = null;
    this.#editor.end();
    if (isOverTrash && key !== undefined) this.#editor.remove(key);
    // A tap on a text that is selected already edits it.
    else if (!this.#hasMoved && this.#wasSelected && this.#editor.selected?.type === "text")
      this.#editor.tool = "text";
  }

  cancel(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    this.#grip = null;
    this.#editor.end();
  }

  #take(isHandle: boolean): void {
    const { selected } = this.#editor;
    this.#grip = selected
      ? { key: selected.key, start: selected, from: new Map(this.#pointers), isHandle }
      : null;
  }

  #swipe(event: PointerEvent): void {
    if (this.#origin === null || this.#pointers.size > 0) return;
    const across = event.clientX - this.#origin.x;
    const down = event.clientY - this.#origin.y;
    if (Math.abs(across) > SWIPE_PX && Math.abs(across) > 2 * Math.abs(down))
      this.#onswipe(across < 0 ? 1 : -1);
  }
}

function pointOf(event: PointerEvent): Point {
  return { x: event.clientX, y: event.clientY };
}

function centreOf(at: Placement, box: DOMRect): Point {
  return { x: box.left + at.x * box.width, y: box.top + at.y * box.height };
}

/** Half of an element's size on the canvas, as fractions. */
function halfSize(canvas: HTMLElement, key: string, box: DOMRect): { width: number; height: number } {
  const shown = canvas.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect();
  return { width: (shown?.width ?? 0) / 2 / box.width, height: (shown?.height ?? 0) / 2 / box.height };
}

function isInside(event: PointerEvent, element: Element | null): boolean {
  const box = element?.getBoundingClientRect();
  if (box === undefined) return false;
  return (
    event.clientX >= box.left &&
    event.clientX <= box.right &&
    event.clientY >= box.top &&
    event.clientY <= box.bottom
  );
}
