import { afterEach, expect, test, vi } from "vitest";
import { Session } from "../../src/rooms/accounts/session.svelte";
import { problem, respondWith } from "../client/fakeFetch";

const ana = { account_id: "1", username: "ana", full_name: "Ana", is_private: false };

afterEach(() => {
  document.cookie = "tt_csrf=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/";
});

test("without the cookie the visitor is a guest, and no request is sent", async () => {
  const fetched = respondWith();
  const session = new Session();
  await session.load();

  expect(session.status).toBe("guest");
  expect(fetched).not.toHaveBeenCalled();
});

test("with the cookie the account is loaded", async () => {
  document.cookie = "tt_csrf=x; Path=/";
  respondWith({ body: ana });
  const session = new Session();
  await session.load();

  expect(session).toMatchObject({ status: "member", account: ana });
});

test("an expired session makes a guest, an unreachable server does not", async () => {
  document.cookie = "tt_csrf=x; Path=/";
  respondWith(problem(401, "not_signed_in"), problem(503, "unavailable"));
  const session = new Session();
  await session.load();
  expect(session.status).toBe("guest");
  await session.load();
  expect(session.status).toBe("unreachable");
});

test("joining and logging out notify the other rooms", async () => {
  respondWith({ status: 201, body: { account: ana } }, { status: 204 });
  const session = new Session();
  const changed = vi.fn();
  session.onChange(changed);
  await session.load();
  expect(changed).not.toHaveBeenCalled();
  await session.join({ username: "ana", password: "a fine password" });
  expect(session.status).toBe("member");
  await session.logOut();

  expect(session).toMatchObject({ status: "guest", account: null });
  expect(changed).toHaveBeenCalledTimes(2);
});

test("logging out of an expired session works, offline it does not", async () => {
  respondWith({ status: 201, body: { account: ana } }, problem(401, "not_signed_in"));
  const session = new Session();
  await session.logIn({ username: "ana", password: "a fine password" });
  await session.logOut();
  expect(session.status).toBe("guest");

  respondWith({ status: 201, body: { account: ana } }, new TypeError("Failed to fetch"));
  await session.logIn({ username: "ana", password: "a fine password" });
  await expect(session.logOut()).rejects.toMatchObject({ code: "offline" });
  expect(session.status).toBe("member");
});
