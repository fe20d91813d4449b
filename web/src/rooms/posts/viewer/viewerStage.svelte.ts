/** The viewer's stage: how the current picture is enlarged and moved, and what fingers, wheel and keys do to it. */
import { ratioOf } from "../../../ui";
import { ViewerGestures } from "./gestures";
import type { Picture, Step, ViewedPictures } from "./viewedPictures.svelte";
import { type Bounds, boundsOf, FITTED, type Point, pan, type Size, type View, zoomAt } from "./zoom";

/** From so far on, or so fast, a swipe goes to the next picture, and a pull down leaves. */
const FAR_PX = 80;
const FAST_PX_PER_MS = 0.5;
const KEY_FACTOR = 1.5;
const KEY_PX = 80;
const WHEEL_FACTOR = 0.0025;
/** Every photo has renditions of these names, however small it is; wider ones are as wide as they say. */
const SMALL_RENDITIONS_PX = 1080;

export class ViewerStage {
  size = $state.raw<Size>(windowSize());
  view = $state.raw<View>(FITTED);
  /** How far a finger has dragged the fitted picture. */
  dragged = $state.raw<Point>({ x: 0, y: 0 });
  isHeld = $state(false);
  readonly gestures: ViewerGestures;
  readonly #pictures: ViewedPictures;
  readonly #leave: () => void;

  constructor(pictures: ViewedPictures, leave: () => void) {
    this.#pictures = pictures;
    this.#leave = leave;
    this.gestures = new ViewerGestures({
      isZoomed: () => this.isZoomed,
      pinch: (by, at, dx, dy) => {
        this.zoom(by, at);
        this.pan(dx, dy);
      },
      pan: (dx, dy) => this.pan(dx, dy),
      drag: (x, y) => {
        this.isHeld = true;
        this.dragged = { x, y };
      },
      drop: (dx, dy, speed) => this.#drop(dx, dy, speed),
      doubleTap: (at) => this.toggle(at),
    });
  }

  /** The window has another size, or a phone was turned: the picture is fitted anew. */
  resize(): void {
    this.size = windowSize();
    this.view = FITTED;
  }

  get isZoomed(): boolean {
    return this.view.scale > 1.01;
  }

  get bounds(): Bounds {
    const picture = this.#pictures.current;
    return boundsOf(picture ? storedSize(picture) : this.size, this.size);
  }

  /** The picture's size on the stage, fitted. */
  fittedSize(picture: Picture): Size {
    return boundsOf(storedSize(picture), this.size).fitted;
  }

  zoom(by: number, at: Point = this.#centre): void {
    this.view = zoomAt(this.view, this.view.scale * by, this.#fromCentre(at), this.bounds);
  }

  pan(dx: number, dy: number): void {
    this.view = pan(this.view, dx, dy, this.bounds);
  }

  /** Fully enlarged at this point, or fitted again. */
  toggle(at: Point): void {
    if (this.isZoomed) this.view = FITTED;
    else this.view = zoomAt(this.view, this.bounds.maxScale, this.#fromCentre(at), this.bounds);
  }

  step(by: Step): void {
    if (this.#pictures.step(by)) this.view = FITTED;
  }

  wheel(event: WheelEvent): void {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * WHEEL_FACTOR), { x: event.clientX, y: event.clientY });
  }

  /** Arrows move an enlarged picture and turn the pages of fitted ones; returns whether the key means something. */
  key(key: string): boolean {
    const across = key === "ArrowLeft" ? -1 : key === "ArrowRight" ? 1 : 0;
    const down = key === "ArrowUp" ? -1 : key === "ArrowDown" ? 1 : 0;
    if (key === "+" || key === "=") this.zoom(KEY_FACTOR);
    else if (key === "-") this.zoom(1 / KEY_FACTOR);
    else if (key === "0") this.view = FITTED;
    else if (this.isZoomed && (across !== 0 || down !== 0)) this.pan(-across * KEY_PX, -down * KEY_PX);
    else if (across !== 0) this.step((across * readingDirection()) as Step);
    else return false;
    return true;
  }

  #drop(dx: number, dy: number, speed: Point): void {
    this.isHeld = false;
    this.dragged = { x: 0, y: 0 };
    const isFar = (by: number, at: number) =>
      Math.abs(by) > FAR_PX || (Math.abs(at) > FAST_PX_PER_MS && by * at > 0);
    if (dx !== 0 && isFar(dx, speed.x)) this.step((-Math.sign(dx) * readingDirection()) as Step);
    if (dy > 0 && isFar(dy, speed.y)) this.#leave();
  }

  get #centre(): Point {
    return { x: this.size.width / 2, y: this.size.height / 2 };
  }

  #fromCentre(at: Point): Point {
    return { x: at.x - this.size.width / 2, y: at.y - this.size.height / 2 };
  }
}

function windowSize(): Size {
  return { width: innerWidth, height: innerHeight };
}

/** 1 where the next picture lies to the right, -1 in right-to-left languages. */
export function readingDirection(): 1 | -1 {
  return document.documentElement.dir === "rtl" ? -1 : 1;
}

/** The largest rendition: its widths name them, but a small photo is smaller than the first 1080 px. */
function storedSize({ media }: Picture): Size {
  const widest = Math.max(...Object.keys(media.urls).map(Number));
  const width = widest > SMALL_RENDITIONS_PX ? widest : media.width;
  return { width, height: width / ratioOf(media) };
}
