import { describe, expect, test } from "vitest";
import { placementAfterKey } from "../../src/rooms/stories/editor/elementKeys";
import { newPoll, newPostCard, newText, toNewElement } from "../../src/rooms/stories/editor/newElements";
import { penAfterKey, RESTING } from "../../src/rooms/stories/editor/penKeys";
import { beginStroke, continueStroke } from "../../src/rooms/stories/editor/penStroke";
import { handled, moved, snapped } from "../../src/rooms/stories/editor/placement";
import { StoryEditor } from "../../src/rooms/stories/editor/storyEditor.svelte";
import { readableOn } from "../../src/rooms/stories/elements/contrast";
import { shares } from "../../src/rooms/stories/elements/pollShares";
import { remaining } from "../../src/rooms/stories/elements/remaining";
import { strokePath } from "../../src/rooms/stories/elements/strokePath";
import { samplePost } from "./samplePosts";

const CANVAS = { width: 360, height: 640 };
const MIDDLE = { x: 0.5, y: 0.5, rotation: 0, scale: 1 };

describe("placement", () => {
  test("one finger moves by fractions of the canvas, and not out of it", () => {
    expect(moved(MIDDLE, [{ x: 0, y: 0 }], [{ x: 36, y: -64 }], CANVAS)).toMatchObject({ x: 0.6, y: 0.4 });
    expect(moved(MIDDLE, [{ x: 0, y: 0 }], [{ x: 999, y: 0 }], CANVAS).x).toBe(1);
  });

  test("two fingers enlarge by their distance and turn by their angle", () => {
    const from = [
      { x: 100, y: 100 },
      { x: 200, y: 100 },
    ];
    const to = [
      { x: 150, y: 0 },
      { x: 150, y: 200 },
    ];
    const placed = moved(MIDDLE, from, to, CANVAS);
    expect(placed.scale).toBeCloseTo(2);
    expect(placed.rotation).toBeCloseTo(90);
    expect(placed).toMatchObject({ x: 0.5, y: 0.5 });
  });

  test("the corner handle turns around the middle without moving it", () => {
    const placed = handled(MIDDLE, { x: 10, y: 0 }, { x: 0, y: 20 }, { x: 0, y: 0 });
    expect(placed).toMatchObject({ x: 0.5, y: 0.5, scale: 2 });
    expect(placed.rotation).toBeCloseTo(90);
  });

  test("it snaps to the middle, to the safe area by its edge, and to eighths of a turn", () => {
    const near = snapped({ x: 0.51, y: 0.19, rotation: 43, scale: 1 }, { width: 0.2, height: 0.1 });
    expect(near.placement).toMatchObject({ x: 0.5, rotation: 45 });
    expect(near.placement.y).toBeCloseTo(0.18);
    expect(near.guides).toEqual({ x: 0.5, y: 0.08 });
    const far = snapped({ x: 0.4, y: 0.3, rotation: 20, scale: 1 }, { width: 0.2, height: 0.1 });
    expect(far.guides).toEqual({ x: null, y: null });
  });

  test("keys move, enlarge and turn; others mean nothing here", () => {
    expect(placementAfterKey("ArrowLeft", true, MIDDLE)?.x).toBeCloseTo(0.45);
    expect(placementAfterKey("-", false, MIDDLE)?.scale).toBeCloseTo(1 / 1.1);
    expect(placementAfterKey("[", false, { ...MIDDLE, rotation: -178 })?.rotation).toBe(177);
    expect(placementAfterKey("a", false, MIDDLE)).toBeNull();
  });
});

describe("the editor", () => {
  test("a gesture is one step to undo, and redo brings it back", () => {
    const editor = new StoryEditor();
    const key = editor.add(newText({ text: "Hello" }));
    editor.begin();
    editor.place(key, { ...MIDDLE, x: 0.6 });
    editor.place(key, { ...MIDDLE, x: 0.7 });
    editor.end();
    expect(editor.selected?.x).toBe(0.7);
    editor.undo();
    expect(editor.placed[0]?.x).toBe(0.5);
    editor.undo();
    expect(editor.layers).toEqual([]);
    editor.redo();
    editor.redo();
    expect(editor.placed[0]?.x).toBe(0.7);
  });

  test("a text that stays empty leaves nothing behind", () => {
    const editor = new StoryEditor();
    editor.begin();
    const key = editor.add(newText());
    editor.remove(key);
    editor.end();
    expect([editor.layers.length, editor.canUndo]).toEqual([0, false]);
  });

  test("the drawing lies behind everything, and elements change places in depth", () => {
    const editor = new StoryEditor();
    const first = editor.add(newText({ text: "1" }));
    editor.add(newText({ text: "2" }));
    editor.addStroke(beginStroke("#ffffff", 0.01, 0.5, 0.5));
    editor.restack(first, 1);
    editor.restack(first, -1);
    editor.restack(first, -1);
    expect(editor.layers.map(({ type }) => type)).toEqual(["drawing", "text", "text"]);
    expect(editor.layers[1]?.key).toBe(first);
  });

  test("elements are sent without what only viewers see", () => {
    expect(toNewElement(newPoll("Which?", ["a", "b"]))).toEqual({
      type: "poll",
      x: 0.5,
      y: 0.45,
      rotation: 0,
      scale: 1,
      question: "Which?",
      choices: ["a", "b"],
    });
    const card = newPostCard(samplePost(7));
    expect(toNewElement(card)).toMatchObject({ type: "post", post_id: card.post?.post_id });
    expect(toNewElement({ ...card, post: null })).toBeNull();
  });
});

describe("the pen by keys", () => {
  const PEN = { colour: "#ffffff", width: 0.012 };

  function press(keys: readonly string[]) {
    return keys.reduce(
      ({ pen, lines }, key) => {
        const after = penAfterKey(key, false, pen, PEN);
        if (after === null) throw new Error(`${key} does nothing`);
        return { pen: after.pen, lines: after.finished === null ? lines : [...lines, after.finished] };
      },
      { pen: RESTING, lines: [] as (typeof RESTING.stroke)[] },
    );
  }

  test("draws only while it is down", () => {
    const { pen, lines } = press(["ArrowLeft", " ", "ArrowRight", "ArrowDown", " ", "ArrowDown"]);
    expect(lines.map((line) => line?.points)).toEqual([[4800, 5000, 5000, 5000, 5000, 5200]]);
    expect(pen).toMatchObject({ stroke: null, y: 0.54 });
  });

  test("drops an unfinished line on Escape, and stays within the canvas", () => {
    expect(press([" ", "ArrowUp", "Escape"])).toMatchObject({ pen: { stroke: null }, lines: [] });
    expect(penAfterKey("ArrowLeft", true, { ...RESTING, x: 0.05 }, PEN)?.pen.x).toBe(0);
  });

  test("leaves all other keys, and Escape while it is up, to the editor", () => {
    expect([penAfterKey("a", false, RESTING, PEN), penAfterKey("Escape", false, RESTING, PEN)]).toEqual([
      null,
      null,
    ]);
  });
});

describe("stickers", () => {
  test("percentages of a poll add up to 100", () => {
    expect(shares([1, 1, 1])).toEqual([0.34, 0.33, 0.33]);
    expect(shares([0, 0])).toEqual([0, 0]);
    expect(shares([2, 1, 0, 0]).reduce((sum, part) => sum + part, 0)).toBeCloseTo(1);
  });

  test("a countdown shows its three largest units, and ends", () => {
    expect(remaining(90_061_000)?.map(({ unit, value }) => `${value} ${unit}`)).toEqual([
      "1 days",
      "01 hours",
      "01 minutes",
    ]);
    expect(remaining(59_500)?.map(({ value }) => value)).toEqual(["00", "01", "00"]);
    expect(remaining(0)).toBeNull();
  });

  test("points closer than the eye sees are left out of a line", () => {
    const begun = beginStroke("#ffffff", 0.01, 0.1, 0.1);
    expect(continueStroke(begun, 0.1001, 0.1)).toBe(begun);
    expect(continueStroke(begun, 0.2, 2).points).toEqual([1_000, 1_000, 2_000, 10_000]);
    expect(strokePath([1_000, 1_000])).toBe("M90 160h0.1");
  });

  test("letters on a plate are readable", () => {
    expect(readableOn("#ffffff")).toBe("#171412");
    expect(readableOn("#171412")).toBe("#ffffff");
  });
});
