import { describe, expect, test } from "vitest";
import { checkNewPassword, checkUsername } from "../../src/rooms/accounts/validation";
import { tokenizeCaption } from "../../src/rooms/posts/captionTokens";
import { createDoubleTap } from "../../src/rooms/posts/doubleTap";
import { decodePlaceholder, frameRatio } from "../../src/ui/imageDisplay";
import { srcsetOf } from "../../src/ui/srcset";

describe("a caption", () => {
  test("is split into mentions, URLs, hashtags and text", () => {
    expect(tokenizeCaption("With @Bo.marsh, see https://example.org/a. #hills")).toEqual([
      { kind: "text", text: "With " },
      { kind: "mention", text: "@Bo.marsh", username: "bo.marsh" },
      { kind: "text", text: ", see " },
      { kind: "url", text: "https://example.org/a", url: "https://example.org/a" },
      { kind: "text", text: ". " },
      { kind: "hashtag", text: "#hills", tag: "hills" },
    ]);
  });

  test("does not link email addresses or javascript: URLs", () => {
    expect(tokenizeCaption("mail me@example.org javascript:alert(1)")).toEqual([
      { kind: "text", text: "mail me@example.org javascript:alert(1)" },
    ]);
  });

  test("loses no character", () => {
    const caption = "@ana @@bo @c..d https://x.y/(z) 😀\nend @";
    expect(
      tokenizeCaption(caption)
        .map(({ text }) => text)
        .join(""),
    ).toBe(caption);
  });
});

test("two taps in one place within 300 ms are a double tap, and a third starts over", () => {
  const isDoubleTap = createDoubleTap();
  const at = (at_ms: number, x = 0) => isDoubleTap({ at_ms, x, y: 0 });
  expect([at(0), at(200), at(300), at(900), at(1000, 90)]).toEqual([false, true, false, false, false]);
});

describe("an image", () => {
  test("lists its renditions in ascending width, without the thumbnail", () => {
    expect(srcsetOf({ "1080": "/l", "150": "/t", "320": "/s", "640": "/m" })).toBe(
      "/s 320w, /m 640w, /l 1080w",
    );
  });
  test("has a frame of its own shape from 9:16 to 3:1, and several have one that shows each of them large enough", () => {
    const frame = (...sizes: [number, number][]) =>
      frameRatio(sizes.map(([width, height]) => ({ width, height })));
    expect([frame([9, 16]), frame([3, 1]), frame([1, 1]), frame([0, 0]), frame()]).toEqual([
      9 / 16,
      3,
      1,
      1,
      1,
    ]);
    expect([frame([1, 4]), frame([8, 1])]).toEqual([9 / 16, 3]);
    expect([frame([3, 2], [1500, 1001]), frame([3, 1], [9, 16]), frame([3, 1], [3, 2])]).toEqual([
      1500 / 1001,
      0.8,
      1.5,
    ]);
  });
  test("ignores a malformed placeholder", () => {
    expect([decodePlaceholder(null), decodePlaceholder(""), decodePlaceholder("!!")]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

test("a hashtag is more than digits, and is one in any script", () => {
  const tags = (text: string) =>
    tokenizeCaption(text).flatMap((token) => (token.kind === "hashtag" ? [token.tag] : []));

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
