import { describe, expect, test } from "vitest";
import { checkNewPassword, checkUsername } from "../../src/rooms/accounts/checks";
import { createDoubleTap } from "../../src/rooms/posts/doubleTap";
import { captionPieces } from "../../src/rooms/posts/pieces";
import { placeholderPixels, shownRatio } from "../../src/ui/sources";
import { srcsetOf } from "../../src/ui/srcset";

describe("a caption", () => {
  test("links people and addresses and leaves the rest alone", () => {
    expect(captionPieces("With @Bo.marsh, see https://example.org/a. #hills")).toEqual([
      { kind: "text", text: "With " },
      { kind: "person", text: "@Bo.marsh", username: "bo.marsh" },
      { kind: "text", text: ", see " },
      { kind: "address", text: "https://example.org/a", url: "https://example.org/a" },
      { kind: "text", text: ". " },
      { kind: "tag", text: "#hills", tag: "hills" },
    ]);
  });

  test("does not take mail addresses for people, nor scripts for addresses", () => {
    expect(captionPieces("mail me@example.org javascript:alert(1)")).toEqual([
      { kind: "text", text: "mail me@example.org javascript:alert(1)" },
    ]);
  });

  test("loses no character", () => {
    const caption = "@ana @@bo @c..d https://x.y/(z) 😀\nend @";
    expect(
      captionPieces(caption)
        .map(({ text }) => text)
        .join(""),
    ).toBe(caption);
  });
});

test("two taps in one place within a moment are a pair, a third begins anew", () => {
  const isPair = createDoubleTap();
  const at = (at_ms: number, x = 0) => isPair({ at_ms, x, y: 0 });
  expect([at(0), at(200), at(300), at(900), at(1000, 90)]).toEqual([false, true, false, false, false]);
});

describe("a picture", () => {
  test("offers its renditions in ascending widths, without the thumbnail", () => {
    expect(srcsetOf({ "1080": "/l", "150": "/t", "320": "/s", "640": "/m" })).toBe(
      "/s 320w, /m 640w, /l 1080w",
    );
  });
  test("is shown whole between 4:5 and 1.91:1", () => {
    expect([shownRatio(1, 1), shownRatio(9, 16), shownRatio(4, 1), shownRatio(0, 0)]).toEqual([
      1, 0.8, 1.91, 1,
    ]);
  });
  test("does without a placeholder that makes no sense", () => {
    expect([placeholderPixels(null), placeholderPixels(""), placeholderPixels("!!")]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

test("a hashtag is more than digits, and is one in any script", () => {
  const tags = (text: string) =>
    captionPieces(text).flatMap((piece) => (piece.kind === "tag" ? [piece.tag] : []));

  expect(tags("#Süden #2026 abc #été_2026 x#no #سماء &#39;")).toEqual(["süden", "été_2026", "سماء"]);
});

describe("a form", () => {
  test("knows a username's shape", () => {
    expect(["", "a..b", ".a", "a b", "x".repeat(31)].map(checkUsername)).not.toContain(null);
    expect(["a", "Ana.L_9", "x".repeat(30)].map(checkUsername)).toEqual([null, null, null]);
  });
  test("counts a password's characters as people do", () => {
    expect(checkNewPassword("😀".repeat(7))).toBe("account.passwordShort");
    expect(checkNewPassword("😀".repeat(8))).toBeNull();
  });
});
