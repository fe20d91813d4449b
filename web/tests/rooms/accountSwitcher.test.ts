import { expect, test, vi } from "vitest";
import { AccountSwitcher } from "../../src/rooms/accounts/accountSwitcher.svelte";
import { problem, respondWith } from "../client/fakeFetch";

const account = (account_id: string, is_current: boolean) => ({
  account_id,
  username: `name${account_id}`,
  full_name: "",
  profile_pic_url: null,
  is_current,
});
const ana = account("1", true);
const bo = account("2", false);

test("switching tells the server and loads the app anew; the account in use stays", async () => {
  const fetched = respondWith({ body: { accounts: [ana, bo] } }, { status: 204, body: null });
  const go = vi.fn();
  const switcher = new AccountSwitcher(go);
  await switcher.load();
  await switcher.switchTo(ana);
  expect(go).not.toHaveBeenCalled();
  await switcher.switchTo(bo);

  expect(fetched.mock.calls[1]?.[0]).toContain("/sessions/device/2");
  expect(go).toHaveBeenCalledExactlyOnceWith("/");
});

test("adding sets the present account aside and goes to the login", async () => {
  respondWith({ status: 204, body: null });
  const go = vi.fn();
  await new AccountSwitcher(go).add();
  expect(go).toHaveBeenCalledExactlyOnceWith("/login");
});

test("a refusal leaves everything as it is", async () => {
  respondWith(problem(409, "too_many_on_device"));
  const go = vi.fn();
  await new AccountSwitcher(go).add();
  expect(go).not.toHaveBeenCalled();
});
