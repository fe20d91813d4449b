import { afterEach, expect, test, vi } from "vitest";
import { Session } from "../../src/rooms/accounts/session.svelte";
import { answer, problem } from "../client/answers";

const ana = { account_id: "1", username: "ana", full_name: "Ana", is_private: false };

afterEach(() => {
  document.cookie = "tt_csrf=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/";
});

test("without the cookie there is nobody, and nobody is asked for", async () => {
  const fetched = answer();
  const session = new Session();
  await session.load();

  expect(session.standing).toBe("guest");
  expect(fetched).not.toHaveBeenCalled();
});

test("with it the account is loaded", async () => {
  document.cookie = "tt_csrf=x; Path=/";
  answer({ body: ana });
  const session = new Session();
  await session.load();

  expect(session).toMatchObject({ standing: "member", account: ana });
});

test("a session that has ended makes a guest, a server that is down does not", async () => {
  document.cookie = "tt_csrf=x; Path=/";
  answer(problem(401, "not_signed_in"), problem(503, "unavailable"));
  const session = new Session();
  await session.load();
  expect(session.standing).toBe("guest");
  await session.load();
  expect(session.standing).toBe("unreachable");
});

test("joining and logging out tell the other rooms", async () => {
  answer({ status: 201, body: { account: ana } }, { status: 204 });
  const session = new Session();
  const changed = vi.fn();
  session.whenChanged(changed);
  await session.load();
  expect(changed).not.toHaveBeenCalled();
  await session.join({ username: "ana", password: "a fine password" });
  expect(session.standing).toBe("member");
  await session.logOut();

  expect(session).toMatchObject({ standing: "guest", account: null });
  expect(changed).toHaveBeenCalledTimes(2);
});

test("logging out of a session the server has forgotten works, offline it does not", async () => {
  answer({ status: 201, body: { account: ana } }, problem(401, "not_signed_in"));
  const session = new Session();
  await session.logIn({ username: "ana", password: "a fine password" });
  await session.logOut();
  expect(session.standing).toBe("guest");

  answer({ status: 201, body: { account: ana } }, new TypeError("Failed to fetch"));
  await session.logIn({ username: "ana", password: "a fine password" });
  await expect(session.logOut()).rejects.toMatchObject({ code: "offline" });
  expect(session.standing).toBe("member");
});
