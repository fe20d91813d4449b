import { describe, expect, test } from "vitest";
import { moved, withTag } from "../../src/rooms/media/naming/tags";
import { begunAt, complete } from "../../src/rooms/posts/create/completing";

describe("completion", () => {
  test("knows the mention or hashtag at the caret", () => {
    expect(begunAt("With @ma", 8)).toMatchObject({ kind: "@", text: "ma", start: 5 });
    expect(begunAt("#grüß", 5)).toMatchObject({ kind: "#", text: "grüß" });
    expect(begunAt("صورة #شمس", 9)).toMatchObject({ kind: "#", text: "شمس" });
  });

  test("leaves addresses and plain words alone", () => {
    expect(begunAt("ana@example", 11)).toBeNull();
    expect(begunAt("With @ma later", 14)).toBeNull();
    expect(begunAt("just words", 10)).toBeNull();
  });

  test("puts the whole word in and the caret behind it", () => {
    const text = "With @ma today";
    const begun = begunAt(text, 8);
    expect(begun && complete(text, begun, "mara")).toEqual({ text: "With @mara today", caret: 11 });
    const last = begunAt("#su", 3);
    expect(last && complete("#su", last, "sunset")).toEqual({ text: "#sunset ", caret: 8 });
  });
});

describe("people in a picture", () => {
  const ana = { user_id: "1", username: "ana", x: 0.5, y: 0.5 };

  test("are in it once, and inside it", () => {
    const tags = withTag(withTag([], ana), { ...ana, x: 1.4, y: -1 });
    expect(tags).toEqual([{ ...ana, x: 1, y: 0 }]);
  });

  test("move alone", () => {
    const bo = { ...ana, user_id: "2" };
    expect(moved([ana, bo], "2", 0.1, 0.2)).toEqual([ana, { ...bo, x: 0.1, y: 0.2 }]);
  });
});
