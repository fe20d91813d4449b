/** Turns pointers on the viewer into gestures: pinch, pan, swipe, pull down and double tap. */
import { createDoubleTap } from "../doubleTap";
import type { Point } from "./zoom";

export interface GestureHandlers {
  readonly isZoomed: () => boolean;
  /** Two fingers: enlarge by `by` around a point, which moved by `dx` and `dy`. */
  readonly pinch: (by: number, at: Point, dx: number, dy: number) => void;
  readonly pan: (dx: number, dy: number) => void;
  /** One finger on a fitted picture, so far; only one of both is not 0. */
  readonly drag: (dx: number, dy: number) => void;
  /** The finger left: by so much, at so many pixels per millisecond. */
  readonly drop: (dx: number, dy: number, speed: Point) => void;
  readonly doubleTap: (at: Point) => void;
}

/** Below this a finger has not moved. */
const STILL_PX = 8;
const TAP_MS = 300;
/** The speed of a swipe is that of its last moments. */
const SPEED_MS = 80;

interface Sample extends Point {
  readonly at_ms: number;
}

export class ViewerGestures {
  readonly #handlers: GestureHandlers;
  readonly #pointers = new Map<number, Point>();
  readonly #isDoubleTap = createDoubleTap();
  #start: Sample | null = null;
  #axis: "x" | "y" | null = null;
  #samples: Sample[] = [];

  constructor(handlers: GestureHandlers) {
    this.#handlers = handlers;
  }

  down(event: PointerEvent): void {
    if (event.button !== 0) return;
    if (event.isPrimary) this.#pointers.clear(); // The first finger of a new gesture: a lift that was lost leaves nothing behind.
    this.#pointers.set(event.pointerId, pointOf(event));
    const isAlone = this.#pointers.size === 1;
    if (this.#axis !== null) this.#handlers.drop(0, 0, { x: 0, y: 0 }); // A second finger ends a swipe.
    this.#axis = null;
    this.#start = isAlone ? { ...pointOf(event), at_ms: event.timeStamp } : null;
    this.#samples = [];
  }

  move(event: PointerEvent): void {
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = pointOf(event);
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.#pointers.set(event.pointerId, now);
    if (other !== undefined) this.#pinch(before, now, other);
    else if (this.#handlers.isZoomed()) this.#handlers.pan(now.x - before.x, now.y - before.y);
    else this.#drag(now, event.timeStamp);
  }

  up(event: PointerEvent): void {
    if (!this.#pointers.delete(event.pointerId) || this.#pointers.size > 0) return;
    const [start, now] = [this.#start, pointOf(event)];
    this.#start = null;
    if (start === null) return;
    const [dx, dy] = [now.x - start.x, now.y - start.y];
    if (this.#axis === "x") this.#handlers.drop(dx, 0, this.#speed(now, event.timeStamp));
    else if (this.#axis === "y") this.#handlers.drop(0, dy, this.#speed(now, event.timeStamp));
    else if (!isOnButton(event) && Math.hypot(dx, dy) <= STILL_PX && event.timeStamp - start.at_ms <= TAP_MS)
      this.#tap(now, event.timeStamp);
    this.#axis = null;
  }

  cancel(event: PointerEvent): void {
    if (this.#pointers.delete(event.pointerId) && this.#axis !== null)
      this.#handlers.drop(0, 0, { x: 0, y: 0 });
    this.#axis = null;
    this.#start = null;
  }

  #pinch(before: Point, now: Point, other: Point): void {
    const by = distance(now, other) / Math.max(1, distance(before, other));
    const at = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    this.#handlers.pinch(by, at, (now.x - before.x) / 2, (now.y - before.y) / 2);
  }

  #drag(now: Point, at_ms: number): void {
    if (this.#start === null) return; // What is left of a pinch.
    const [dx, dy] = [now.x - this.#start.x, now.y - this.#start.y];
    if (this.#axis === null && Math.hypot(dx, dy) > STILL_PX)
      this.#axis = Math.abs(dx) >= Math.abs(dy) ? "x" : "y";
    this.#samples = [...this.#samples.filter((each) => at_ms - each.at_ms <= SPEED_MS), { ...now, at_ms }];
    if (this.#axis === "x") this.#handlers.drag(dx, 0);
    else if (this.#axis === "y") this.#handlers.drag(0, dy);
  }

  #tap(at: Point, at_ms: number): void {
    if (this.#isDoubleTap({ ...at, at_ms })) this.#handlers.doubleTap(at);
  }

  #speed(now: Point, at_ms: number): Point {
    const first = this.#samples[0];
    const ms = first === undefined ? 0 : at_ms - first.at_ms;
    if (first === undefined || ms <= 0) return { x: 0, y: 0 };
    return { x: (now.x - first.x) / ms, y: (now.y - first.y) / ms };
  }
}

export function isOnButton({ target }: Event): boolean {
  return target instanceof Element && target.closest("button") !== null;
}

function pointOf({ clientX, clientY }: PointerEvent): Point {
  return { x: clientX, y: clientY };
}

function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
