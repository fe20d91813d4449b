import { expect, test } from "vitest";
import { Joining } from "../../src/rooms/accounts/joining.svelte";
import { TagFollow } from "../../src/rooms/search/tagFollow.svelte";
import { problem, respondWith } from "../client/fakeFetch";

const inviter = {
  account_id: "7",
  username: "ana",
  full_name: "",
  profile_pic_url: null,
  is_verified: false,
};

async function load(code: string, ...answers: Parameters<typeof respondWith>): Promise<Joining> {
  respondWith(...answers);
  const joining = new Joining(code);
  await joining.load();
  return joining;
}

test("an open site lets everybody join", async () => {
  const joining = await load("", { body: { registration: "open" } });

  expect([joining.isAllowed, joining.invitation]).toEqual([true, {}]);
});

test("a site by invitation lets join who has one, and sends it along", async () => {
  const uninvited = await load("", { body: { registration: "invitation" } });
  const invited = await load("code", { body: { registration: "invitation" } }, { body: { inviter } });

  expect(uninvited.isAllowed).toBe(false);
  expect([invited.isAllowed, invited.inviter?.username, invited.invitation]).toEqual([
    true,
    "ana",
    { invitation: "code" },
  ]);
});

test("an outdated link is not sent: on an open site one joins without it", async () => {
  const joining = await load(
    "code",
    { body: { registration: "open" } },
    problem(404, "invitation_not_found"),
  );

  expect([joining.isAllowed, joining.isOutdated, joining.invitation]).toEqual([true, true, {}]);
});

test("a closed site says so, whatever the link", async () => {
  const joining = await load("code", { body: { registration: "closed" } }, { body: { inviter } });

  expect(joining.isAllowed).toBe(false);
});

test("a failure is no refusal", async () => {
  const joining = await load("", problem(503, "unavailable"));

  expect([joining.isAllowed, joining.failure === null]).toEqual([null, false]);
});

test("a followed hashtag that the server refuses is not followed", async () => {
  respondWith({ status: 204 }, problem(409, "too_many_tags"));
  const [kept, refused] = [new TagFollow("dawn", false), new TagFollow("dusk", false)];

  await kept.follow(true);
  await refused.follow(true);

  expect([kept.isOn, refused.isOn]).toEqual([true, false]);
});
