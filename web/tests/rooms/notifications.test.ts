import { expect, test, vi } from "vitest";
import { language } from "../../src/base/i18n";
import type { NotificationItem } from "../../src/client/notifications";
import { refreshUnread } from "../../src/rooms/notifications/lazy";
import { NotificationList, sectionsOf } from "../../src/rooms/notifications/notificationList.svelte";
import { actorNames, notificationHref } from "../../src/rooms/notifications/notificationText";
import { unread } from "../../src/rooms/notifications/unread.svelte";
import { problem, respondWith } from "../client/fakeFetch";

function actor(username: string): NotificationItem["actors"][number] {
  return {
    account_id: username,
    username,
    full_name: "",
    is_verified: false,
    is_private: false,
    avatar_urls: null,
    relation: null,
  };
}

function item(id: number, changes: Partial<NotificationItem> = {}): NotificationItem {
  return {
    notification_id: String(id),
    kind: "like",
    actors: [actor("ana")],
    actor_count: 1,
    others_count: 0,
    object_id: null,
    post: null,
    story: null,
    comment_text: null,
    happened_at: "2026-03-10T12:00:00Z",
    recency: "today",
    is_read: false,
    ...changes,
  };
}

test("one, two and many actors are named", async () => {
  await language.loadNamespaces("activity");
  const said = [
    item(1),
    item(2, { actors: [actor("ana"), actor("bo")], actor_count: 2 }),
    item(3, { actors: [actor("ana"), actor("bo"), actor("cy")], actor_count: 5, others_count: 2 }),
  ].map((each) => actorNames(each).replaceAll(/[\u2068\u2069]/g, ""));

  expect(said).toEqual(["ana", "ana and bo", "ana, bo and 3 others"]);
});

test("a notification links to what it is about", () => {
  expect(notificationHref(item(1, { kind: "warning", actors: [] }))).toBe("/decisions");
  expect(notificationHref(item(1, { kind: "request" }))).toBe("/requests");
  expect(notificationHref(item(1, { kind: "follow" }))).toBe("/@ana");
});

test("sections keep the order of the list", () => {
  const sections = sectionsOf([item(3), item(2), item(1, { recency: "week" })]);
  expect(sections.map(({ recency, items }) => [recency, items.length])).toEqual([
    ["today", 2],
    ["week", 1],
  ]);
});

test("loading the list marks it as read up to its newest item, and clears the badge", async () => {
  const page = { notifications: [item(9), item(8)], unread_count: 2, next_cursor: null, has_more: false };
  const fetched = respondWith({ body: page }, { status: 204 });
  unread.set(2);
  const list = new NotificationList();
  await list.pages.loadMore();
  await new Promise((resolve) => setTimeout(resolve));

  expect(fetched.mock.calls[1]?.[1]?.body).toBe('{"up_to":"9"}');
  expect([unread.count, list.isRead]).toEqual([0, true]);
});

test("the badge stays when marking as read fails", async () => {
  const page = { notifications: [item(9)], unread_count: 1, next_cursor: null, has_more: false };
  respondWith({ body: page }, problem(503, "unavailable"));
  const list = new NotificationList();
  await list.pages.loadMore();
  await new Promise((resolve) => setTimeout(resolve));

  expect([unread.count, list.isRead]).toEqual([1, false]);
});

test("a count requested before reading does not bring the badge back", async () => {
  let respond: (response: Response) => void = () => {};
  globalThis.fetch = () => new Promise((resolve) => (respond = resolve));
  const refreshing = refreshUnread();
  unread.set(0);
  respond(new Response('{"unread_count":5}'));
  await refreshing;

  expect(unread.count).toBe(0);
});

test("a count that is pushed while the list is marked as read is not overwritten", async () => {
  const page = { notifications: [item(9)], unread_count: 1, next_cursor: null, has_more: false };
  let markedRead: () => void = () => {};
  const responses = [
    Promise.resolve(Response.json(page)),
    new Promise<Response>((resolve) => (markedRead = () => resolve(new Response(null, { status: 204 })))),
    Promise.resolve(Response.json({ unread_count: 1 })),
  ];
  const fetched = vi.fn(() => responses.shift() ?? Promise.reject(new Error("nothing left to say")));
  globalThis.fetch = fetched;
  unread.set(1);
  const list = new NotificationList();
  await list.pages.loadMore();
  unread.set(1); // Pushed: somebody has commented.
  markedRead();
  await vi.waitFor(() => expect(fetched).toHaveBeenCalledTimes(3));

  expect([unread.count, list.isRead]).toEqual([1, true]);
});

test("of two requests for the count the later one is shown", async () => {
  const respond: ((response: Response) => void)[] = [];
  globalThis.fetch = () => new Promise((resolve) => respond.push(resolve));
  const requests = [refreshUnread(), refreshUnread()];
  respond[1]?.(new Response('{"unread_count":2}'));
  respond[0]?.(new Response('{"unread_count":7}'));
  await Promise.all(requests);

  expect(unread.count).toBe(2);
});
