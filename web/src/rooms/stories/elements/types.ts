/** The elements of a story: what lies over its picture. */
import type { Story } from "../../../client/stories";

export type StoryElement = Story["elements"][number];
export type ElementOf<Type extends StoryElement["type"]> = Extract<StoryElement, { type: Type }>;
export type TextElement = ElementOf<"text">;
export type Stroke = ElementOf<"drawing">["strokes"][number];
/** Everything but a drawing, which always covers the whole canvas. */
export type PlacedElement = Exclude<StoryElement, { type: "drawing" }>;
export type Placement = Pick<TextElement, "x" | "y" | "rotation" | "scale">;

/** The shape of the canvas that holds the picture and all elements, on every screen. */
export const CANVAS_RATIO = 9 / 16;
