import { expect, test } from "vitest";
import { language } from "../../src/base/i18n";
import type { Line } from "../../src/client/activity";
import { Lines, sectionsOf } from "../../src/rooms/notifications/lines.svelte";
import { unread } from "../../src/rooms/notifications/unread.svelte";
import { hrefOf, whoOf } from "../../src/rooms/notifications/wording";
import { answer, problem } from "../client/answers";

function actor(username: string): Line["actors"][number] {
  return {
    account_id: username,
    username,
    full_name: "",
    is_verified: false,
    is_private: false,
    avatar_urls: null,
    relationship: null,
  };
}

function line(id: number, changes: Partial<Line> = {}): Line {
  return {
    notification_id: String(id),
    kind: "like",
    actors: [actor("ana")],
    actor_count: 1,
    others_count: 0,
    object_id: null,
    post: null,
    story: null,
    happened_at: "2026-03-10T12:00:00Z",
    recency: "today",
    is_read: false,
    ...changes,
  };
}

test("one, two and many are named as people would", async () => {
  await language.need("activity");
  const said = [
    line(1),
    line(2, { actors: [actor("ana"), actor("bo")], actor_count: 2 }),
    line(3, { actors: [actor("ana"), actor("bo"), actor("cy")], actor_count: 5, others_count: 2 }),
  ].map((each) => whoOf(each).replaceAll(/[\u2068\u2069]/g, ""));

  expect(said).toEqual(["ana", "ana and bo", "ana, bo and 3 others"]);
});

test("a line leads to what it is about", () => {
  expect(hrefOf(line(1, { kind: "warning", actors: [] }))).toBe("/decisions");
  expect(hrefOf(line(1, { kind: "request" }))).toBe("/requests");
  expect(hrefOf(line(1, { kind: "follow" }))).toBe("/@ana");
});

test("sections stand in the order of the list", () => {
  const sections = sectionsOf([line(3), line(2), line(1, { recency: "week" })]);
  expect(sections.map(({ recency, lines }) => [recency, lines.length])).toEqual([
    ["today", 2],
    ["week", 1],
  ]);
});

test("what is shown is marked as read up to its newest line, and the badge goes", async () => {
  const page = { notifications: [line(9), line(8)], unread_count: 2, next_cursor: null, has_more: false };
  const fetched = answer({ body: page }, { status: 204 });
  unread.adopt(2);
  const lines = new Lines();
  await lines.pages.more();
  await new Promise((resolve) => setTimeout(resolve));

  expect(fetched.mock.calls[1]?.[1]?.body).toBe('{"up_to":"9"}');
  expect([unread.count, lines.isRead]).toEqual([0, true]);
});

test("the badge stays when reading could not be told", async () => {
  const page = { notifications: [line(9)], unread_count: 1, next_cursor: null, has_more: false };
  answer({ body: page }, problem(503, "unavailable"));
  const lines = new Lines();
  await lines.pages.more();
  await new Promise((resolve) => setTimeout(resolve));

  expect([unread.count, lines.isRead]).toEqual([1, false]);
});

test("a count that was asked for before reading does not bring the badge back", async () => {
  let tell: (response: Response) => void = () => {};
  globalThis.fetch = () => new Promise((resolve) => (tell = resolve));
  const looking = unread.look();
  unread.adopt(0);
  tell(new Response('{"unread_count":5}'));
  await looking;

  expect(unread.count).toBe(0);
});
