/** The story being composed: its elements in order of depth, which is selected, and everything that can be undone. */
import { randomId } from "../../../base/random";
import type { PlacedElement, Placement, StoryElement, Stroke } from "../elements/types";
import { type Guides, NO_GUIDES } from "./placement";

/** An element with a name of its own while it is edited. */
export type Layer = StoryElement & { readonly key: string };
export type PlacedLayer = PlacedElement & { readonly key: string };
export type Tool = "arrange" | "text" | "draw" | "looks";

export interface Pen {
  readonly colour: string;
  readonly width: number;
}

const MAX_UNDO = 100;

export class StoryEditor {
  layers = $state.raw<readonly Layer[]>([]);
  selectedKey = $state.raw<string | null>(null);
  tool = $state.raw<Tool>("arrange");
  /** The guides that the dragged element has snapped to. */
  guides = $state.raw<Guides>(NO_GUIDES);
  /** What screen readers are told about the last change. */
  announcement = $state.raw("");
  /** What the pen draws with: a colour, and a width as a fraction of the canvas's. */
  pen = $state.raw<Pen>({ colour: "#ffffff", width: 0.012 });
  isDragging = $state.raw(false);
  isOverTrash = $state.raw(false);
  readonly placed = $derived(this.layers.filter(isPlaced));
  readonly strokes = $derived(this.layers.find((each) => each.type === "drawing")?.strokes ?? []);
  readonly selected = $derived(this.placed.find(({ key }) => key === this.selectedKey) ?? null);
  #past = $state.raw<readonly (readonly Layer[])[]>([]);
  #future = $state.raw<readonly (readonly Layer[])[]>([]);
  #before: readonly Layer[] | null = null;
  readonly canUndo = $derived(this.#past.length > 0);
  readonly canRedo = $derived(this.#future.length > 0);

  has(type: StoryElement["type"]): boolean {
    return this.layers.some((each) => each.type === type);
  }

  /** Adds an element in front of all others and selects it. */
  add(element: PlacedElement): string {
    const key = randomId();
    this.#commit([...this.layers, { ...element, key }]);
    this.selectedKey = key;
    return key;
  }

  change(key: string, change: Partial<PlacedElement>): void {
    this.#commit(this.#with(key, change));
  }

  remove(key: string): void {
    this.#commit(this.layers.filter((each) => each.key !== key));
    if (this.selectedKey === key) this.selectedKey = null;
  }

  /** Moves an element in front of the next one, or behind the previous one. */
  restack(key: string, by: 1 | -1): void {
    const index = this.layers.findIndex((each) => each.key === key);
    const other = this.layers[index + by];
    const layer = this.layers[index];
    if (layer === undefined || other === undefined || other.type === "drawing") return;
    this.#commit(this.layers.with(index, other).with(index + by, layer));
  }

  /** The drawing lies behind all texts and stickers. */
  addStroke(stroke: Stroke): void {
    const others = this.layers.filter((each) => each.type !== "drawing");
    this.#commit([{ type: "drawing", strokes: [...this.strokes, stroke], key: "drawing" }, ...others]);
  }

  /** Begins a gesture: what follows until `end` is one step to undo. */
  begin(): void {
    this.#before ??= this.layers;
  }

  /** Shows an element elsewhere, within a gesture. */
  place(key: string, placement: Placement): void {
    this.layers = this.#with(key, placement);
  }

  /** Changes an element within a gesture, such as writing. */
  write(key: string, change: Partial<PlacedElement>): void {
    this.layers = this.#with(key, change);
  }

  end(): void {
    const before = this.#before;
    this.#before = null;
    this.guides = NO_GUIDES;
    this.isDragging = false;
    this.isOverTrash = false;
    if (before !== null && !isSame(before, this.layers)) this.#remember(before);
  }

  undo(): void {
    this.end();
    const before = this.#past.at(-1);
    if (before === undefined) return;
    this.#future = [...this.#future, this.layers];
    this.#past = this.#past.slice(0, -1);
    this.layers = before;
  }

  redo(): void {
    const after = this.#future.at(-1);
    if (after === undefined) return;
    this.#past = [...this.#past, this.layers];
    this.#future = this.#future.slice(0, -1);
    this.layers = after;
  }

  #with(key: string, change: Partial<PlacedElement>): readonly Layer[] {
    return this.layers.map((each) => (each.key === key ? ({ ...each, ...change } as Layer) : each));
  }

  #commit(next: readonly Layer[]): void {
    if (this.#before === null) this.#remember(this.layers);
    this.layers = next;
  }

  #remember(before: readonly Layer[]): void {
    this.#past = [...this.#past, before].slice(-MAX_UNDO);
    this.#future = [];
  }
}

function isSame(before: readonly Layer[], after: readonly Layer[]): boolean {
  return before.length === after.length && before.every((layer, index) => layer === after[index]);
}

function isPlaced(layer: Layer): layer is PlacedLayer {
  return layer.type !== "drawing";
}
