import { describe, expect, test } from "vitest";
import { formatTime, parseTime } from "../src/app/settings/timeOfDay";
import { pushTarget, pushText } from "../src/worker/pushText";

const payload = {
  notification_id: "1",
  kind: "like",
  username: "ana",
  actor_count: 1,
  post_id: "7",
  unread_count: 1,
};

describe("quiet hours", () => {
  test("are minutes after midnight, shown as HH:MM", () => {
    expect(formatTime(22 * 60 + 5)).toBe("22:05");
    expect(parseTime("22:05")).toBe(1325);
    expect(parseTime("")).toBeNull();
  });
});

describe("a push", () => {
  test("is in the browser's first supported language", () => {
    expect(pushText(payload, ["fr", "de-AT"])).toBe("ana gefällt dein Beitrag");
    expect(pushText(payload, ["fr"])).toBe("ana liked your post");
    expect(pushText({ ...payload, actor_count: 3 }, ["en"])).toBe("ana and others liked your post");
  });

  test("of an unknown kind has a generic text", () => {
    expect(pushText({ ...payload, kind: "something_new" }, ["en"])).toBe("Something happened on Tintype");
    expect(pushText({ ...payload, username: null }, ["en"])).toBe("Something happened on Tintype");
  });

  test("opens the new follower, or the list", () => {
    expect(pushTarget({ ...payload, kind: "follow" })).toBe("/@ana");
    expect(pushTarget(payload)).toBe("/activity");
  });
});
