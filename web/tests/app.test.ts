import { describe, expect, test } from "vitest";
import { asClock, asMinutes } from "../src/app/settings/clock";
import { addressOf, wordingOf } from "../src/worker/wording";

const told = {
  notification_id: "1",
  kind: "like",
  username: "ana",
  actor_count: 1,
  post_id: "7",
  unread_count: 1,
};

describe("quiet hours", () => {
  test("are minutes after midnight, shown as a clock", () => {
    expect(asClock(22 * 60 + 5)).toBe("22:05");
    expect(asMinutes("22:05")).toBe(1325);
    expect(asMinutes("")).toBeNull();
  });
});

describe("a push", () => {
  test("is worded in the browser's first language that we speak", () => {
    expect(wordingOf(told, ["fr", "de-AT"])).toBe("ana gefällt dein Beitrag");
    expect(wordingOf(told, ["fr"])).toBe("ana liked your post");
    expect(wordingOf({ ...told, actor_count: 3 }, ["en"])).toBe("ana and others liked your post");
  });

  test("says nothing wrong about what it does not know", () => {
    expect(wordingOf({ ...told, kind: "something_new" }, ["en"])).toBe("Something happened on Tintype");
    expect(wordingOf({ ...told, username: null }, ["en"])).toBe("Something happened on Tintype");
  });

  test("leads to who follows, or to the list", () => {
    expect(addressOf({ ...told, kind: "follow" })).toBe("/@ana");
    expect(addressOf(told)).toBe("/activity");
  });
});
