/**
 * A story follows the finger: sideways to the next or previous person, down to close. Let go far enough it leaves in that
 * direction, and the next one comes in from the other side; otherwise it springs back.
 */
import { router } from "../../base/router";
import { readGesture, type Touch } from "./gestures";
import type { StoryPlayback } from "./playback.svelte";

/** Below this a finger rests: it holds the story. */
const SLOP_PX = 8;
/** As long as the transition of the frame (`--calm`). */
const LEAVE_MS = 260;

type Phase = "resting" | "dragging" | "leaving";

export class StoryDrag {
  x_px = $state.raw(0);
  y_px = $state.raw(0);
  phase = $state.raw<Phase>("resting");
  /** How far it is on its way out, 0 to 1. */
  readonly share = $derived(Math.min(1, Math.max(Math.abs(this.x_px), this.y_px) / innerWidth));
  readonly #playback: StoryPlayback;
  #from: Touch | null = null;
  #axis: "x" | "y" | null = null;

  constructor(playback: StoryPlayback) {
    this.#playback = playback;
  }

  readonly down = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    if (event.target instanceof Element && isOccupied(event.target, event.pointerType)) return;
    if (this.phase === "leaving" || !event.isPrimary) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    this.#from = touchOf(event);
    this.#axis = null;
    this.#playback.isHeld = true;
  };

  readonly move = (event: PointerEvent): void => {
    if (this.#from === null || !event.isPrimary) return;
    const x = event.clientX - this.#from.x;
    const y = event.clientY - this.#from.y;
    if (Math.max(Math.abs(x), Math.abs(y)) > SLOP_PX) this.#axis ??= Math.abs(x) > Math.abs(y) ? "x" : "y";
    if (this.#axis === null) return;
    this.phase = "dragging";
    // There is nobody in that direction: it resists.
    const isEnd = this.#axis === "x" && !this.#playback.hasPerson(direction(x));
    this.x_px = this.#axis === "x" ? (isEnd ? x / 4 : x) : 0;
    this.y_px = this.#axis === "y" ? Math.max(0, y) : 0;
  };

  readonly up = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    this.#playback.isHeld = false;
    if (this.#from === null || !event.isPrimary) return;
    const isRtl = document.documentElement.dir === "rtl";
    const gesture = readGesture(
      this.#from,
      touchOf(event),
      event.currentTarget.getBoundingClientRect(),
      isRtl,
    );
    const wasDragged = this.#axis !== null;
    this.#from = null;
    if (gesture === "close") router.back();
    else if (gesture === "nextPerson" || gesture === "previousPerson") return void this.#leave(gesture);
    else if (!wasDragged && gesture !== "none") this.#playback[gesture]();
    this.#rest();
  };

  readonly cancel = (): void => {
    if (this.#from === null) return;
    this.#from = null;
    this.#playback.isHeld = false;
    this.#rest();
  };

  async #leave(gesture: "nextPerson" | "previousPerson"): Promise<void> {
    const by = gesture === "nextPerson" ? 1 : -1;
    if (!this.#playback.hasPerson(by)) {
      this.#rest();
      if (by === 1) this.#playback.nextPerson(); // The last one: it ends.
      return;
    }
    const side = Math.sign(this.x_px) * innerWidth;
    this.phase = "leaving";
    this.x_px = side;
    await pause(LEAVE_MS);
    this.#playback[gesture]();
    this.phase = "dragging"; // Without a transition to the other side, from where the next one comes.
    this.x_px = -side;
    await nextFrame();
    this.#rest();
  }

  #rest(): void {
    this.phase = "resting";
    this.x_px = 0;
    this.y_px = 0;
  }
}

/** Links, buttons and fields have uses of their own; so have words, which a mouse selects. */
function isOccupied(target: Element, pointerType: string): boolean {
  const taken = "a, button, input, form, .poll, .question, .countdown";
  return target.closest(pointerType === "mouse" ? `${taken}, .elements p` : taken) !== null;
}

function touchOf(event: PointerEvent): Touch {
  return { x: event.clientX, y: event.clientY, at_ms: event.timeStamp };
}

/** In which direction of the tray a movement leads: a finger to the left brings the next person, in Arabic the previous one. */
function direction(x_px: number): 1 | -1 {
  const isRtl = document.documentElement.dir === "rtl";
  return x_px < 0 !== isRtl ? 1 : -1;
}

function pause(ms: number): Promise<void> {
  const isReduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return isReduced ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}

/** After the browser has drawn the present state. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
}
