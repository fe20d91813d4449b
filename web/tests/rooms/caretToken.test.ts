import { describe, expect, test } from "vitest";
import { addTag, moveTag } from "../../src/rooms/media/tagging/tags";
import { complete, tokenAtCaret } from "../../src/rooms/posts/create/caretToken";

describe("the token at the caret", () => {
  test("is the mention or hashtag being typed", () => {
    expect(tokenAtCaret("With @ma", 8)).toMatchObject({ kind: "@", text: "ma", start: 5 });
    expect(tokenAtCaret("#grüß", 5)).toMatchObject({ kind: "#", text: "grüß" });
    expect(tokenAtCaret("صورة #شمس", 9)).toMatchObject({ kind: "#", text: "شمس" });
  });

  test("is null for email addresses and plain words", () => {
    expect(tokenAtCaret("ana@example", 11)).toBeNull();
    expect(tokenAtCaret("With @ma later", 14)).toBeNull();
    expect(tokenAtCaret("just words", 10)).toBeNull();
  });

  test("is replaced by the completion, with the caret after it", () => {
    const text = "With @ma today";
    const token = tokenAtCaret(text, 8);
    expect(token && complete(text, token, "mara")).toEqual({ text: "With @mara today", caret: 11 });
    const last = tokenAtCaret("#su", 3);
    expect(last && complete("#su", last, "sunset")).toEqual({ text: "#sunset ", caret: 8 });
  });
});

describe("people tags", () => {
  const ana = { account_id: "1", username: "ana", x: 0.5, y: 0.5 };

  test("are unique per person and inside the picture", () => {
    const tags = addTag(addTag([], ana), { ...ana, x: 1.4, y: -1 });
    expect(tags).toEqual([{ ...ana, x: 1, y: 0 }]);
  });

  test("are moved one at a time", () => {
    const bo = { ...ana, account_id: "2" };
    expect(moveTag([ana, bo], "2", 0.1, 0.2)).toEqual([ana, { ...bo, x: 0.1, y: 0.2 }]);
  });
});
