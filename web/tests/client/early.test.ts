/** What the page asked before the app arrived is taken once, and never in place of something newer. */
import { afterEach, expect, test, vi } from "vitest";
import { api } from "../../src/client";
import { askEarly, FEED_PAGE, firstAddresses } from "../../src/client/early";
import { answer, problem } from "./answers";

const ME = "/api/v1/accounts/me";

afterEach(() => {
  delete window.tintypeEarly;
});

test("an answer asked for early is not asked for again, and serves once", async () => {
  const fetched = answer({ body: { username: "early" } }, { body: { username: "late" } });
  askEarly(ME);

  expect(await api.getMe()).toEqual({ username: "early" });
  expect(await api.getMe()).toEqual({ username: "late" });
  expect(fetched).toHaveBeenCalledTimes(2);
});

test("home asks early for exactly what the feed asks for", async () => {
  const [feed = ""] = firstAddresses("/", "following");
  const fetched = answer({ body: { posts: [], next_cursor: null, has_more: false } });
  askEarly(feed);

  await api.getFeed("following", null, FEED_PAGE);

  expect(fetched).toHaveBeenCalledTimes(1);
});

test("a refusal that came early is a refusal", async () => {
  answer(problem(401, "not_signed_in"));
  askEarly(ME);

  await expect(api.getMe()).rejects.toMatchObject({ status: 401, code: "not_signed_in" });
});

test("a line that broke early is reported to whoever asks", async () => {
  answer(new TypeError("no network"));
  askEarly(ME);

  await expect(api.getMe()).rejects.toMatchObject({ status: 0, code: "offline" });
});

test("after a change nothing from before it is shown", async () => {
  answer({ body: { username: "before" } }, { status: 204 }, { body: { username: "after" } });
  askEarly(ME);
  await api.like("1");

  expect(await api.getMe()).toEqual({ username: "after" });
});

test("an answer that has lain for minutes is asked for anew", async () => {
  answer({ body: { username: "old" } }, { body: { username: "new" } });
  askEarly(ME);
  vi.spyOn(performance, "now").mockReturnValue(120_000);

  expect(await api.getMe()).toEqual({ username: "new" });
});
