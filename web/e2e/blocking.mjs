// Blocking: both sides immediately see nothing of each other, also in an open feed; unblocking ends it.
// node e2e/blocking.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, PHONE, reloadUntilVisible, screenshot } from "./support/browser.mjs";
import { publish, publishStory, RUN, runFlow } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;

await runFlow(address, async (enter) => {
  const ana = await enter(ANA, DESKTOP);
  const bo = await enter(BO, PHONE);
  const cy = await enter(`cy.${RUN}`, PHONE);
  const posts = await createFriends(ana, bo, cy);
  await bo.page.clock.install(); // To fast-forward to the next poll.
  await reloadUntilVisible(bo, `${address}/`, "The pier of Ana");

  await block(ana);
  await assertInvisible(ana, BO, posts);
  await assertFeedUpdates(bo);
  await assertInvisible(bo, ANA, posts);
  await unblock(ana, bo);
});

// Both follow each other, have a post and a story, and have commented on a third user's post.
async function createFriends(ana, bo, cy) {
  const [ofAna, ofBo, ofCy] = await Promise.all([
    publish(ana, photo, "The pier of Ana"),
    publish(bo, photo, "The mill of Bo"),
    publish(cy, photo, "The bridge of Cy"),
    publishStory(ana, photo, "Ana, now"),
    publishStory(bo, photo, "Bo, now"),
  ]);
  await ana.call("PUT", `/accounts/${bo.id}/follow`);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  await ana.call("POST", `/posts/${ofCy.post_id}/comments`, { text: `Words of ${ANA}` });
  await bo.call("POST", `/posts/${ofCy.post_id}/comments`, { text: `Words of ${BO}` });
  return { [ANA]: ofAna, [BO]: ofBo, third: ofCy };
}

async function block(ana) {
  const { page } = ana;
  await reloadUntilVisible(ana, `${address}/`, "The mill of Bo");
  await reloadUntilVisible(ana, `${address}/`, `${BO}’s story, 1 new`);
  await page.getByText("The mill of Bo").first().waitFor();
  await page.getByRole("article").getByRole("link", { name: BO }).first().click();
  await page.getByRole("button", { name: `More options for ${BO}` }).click();
  await page.getByRole("button", { name: /^Block/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Block", exact: true }).click();
  await page.getByRole("heading", { name: `${BO} is blocked.` }).waitFor();
  await screenshot(page, shots, "blocked");
  await page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: "Home", exact: true })
    .click();
  await page.getByText("The pier of Ana").first().waitFor(); // The same feed, not reloaded.
  assert.equal(await page.getByText("The mill of Bo").count(), 0, "their posts leave the feed at once");
  assert.equal(await page.getByRole("link", { name: `${BO}’s story` }).count(), 0, "and so do their stories");
}

// Without a reload: the next poll removes what the user may no longer see.
async function assertFeedUpdates({ page }) {
  await page.clock.fastForward(90_000);
  await page.getByText("The pier of Ana").first().waitFor({ state: "detached" });
  await page.getByText("The mill of Bo").first().waitFor();
}

async function assertInvisible({ page, call }, name, posts) {
  await page.goto(`${address}/p/${posts.third.code}`);
  await page.getByText(`Words of ${name === ANA ? BO : ANA}`).waitFor();
  assert.equal(await page.getByText(`Words of ${name}`).count(), 0, "what they said is not there");
  await page.goto(`${address}/p/${posts[name].code}`);
  await page.getByRole("heading", { name: "This post is gone" }).waitFor();
  const { people } = await call("GET", `/search/people?q=${name}`); // It also finds similar names.
  assert.ok(!people.some(({ username }) => username === name), "search does not know them");
  await page.goto(`${address}/@${name}`);
  await page.getByRole("heading", { name: "Nobody goes by that name" }).waitFor();
}

async function unblock(ana, bo) {
  await ana.page.goto(`${address}/settings/privacy`);
  await ana.page.getByRole("radio", { name: "Blocked" }).check({ force: true });
  const isDone = ana.page.waitForResponse((answer) => answer.url().includes("/blocks/") && answer.ok());
  await ana.page.getByRole("button", { name: "Unblock" }).click();
  await isDone;
  await bo.page.goto(`${address}/@${ANA}`);
  await bo.page.getByRole("link", { name: "The pier of Ana" }).waitFor();
  await bo.page.getByRole("button", { name: /^Follow/, pressed: false }).waitFor();
}
