// A block: whoever blocks sees nothing of the other any more, at once; whoever is blocked finds neither profile nor posts
// nor words, and their open feed empties. Unblocking ends it. node e2e/parting.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { publish, seesAt, tellStory } from "./kit.mjs";
import { PHONE, play, RUN, WIDE } from "./stage.mjs";

const [address, photo, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;

await play(address, async (enter) => {
  const ana = await enter(ANA, WIDE);
  const bo = await enter(BO, PHONE);
  const cy = await enter(`cy.${RUN}`, PHONE);
  const posts = await areFriends(ana, bo, cy);
  await bo.page.clock.install(); // So that a minute can pass in a moment.
  await seesAt(bo, `${address}/`, "The pier of Ana");

  await blocks(ana);
  await seesNothingOf(ana, BO, posts);
  await feedEmpties(bo);
  await seesNothingOf(bo, ANA, posts);
  await unblocks(ana, bo);
});

// Each follows the other, each has a post and a story, and both have spoken under a third one's post.
async function areFriends(ana, bo, cy) {
  const [ofAna, ofBo, ofCy] = await Promise.all([
    publish(ana, photo, "The pier of Ana"),
    publish(bo, photo, "The mill of Bo"),
    publish(cy, photo, "The bridge of Cy"),
    tellStory(ana, photo, "Ana, now"),
    tellStory(bo, photo, "Bo, now"),
  ]);
  await ana.call("PUT", `/accounts/${bo.id}/follow`);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  await ana.call("POST", `/posts/${ofCy.post_id}/comments`, { text: `Words of ${ANA}` });
  await bo.call("POST", `/posts/${ofCy.post_id}/comments`, { text: `Words of ${BO}` });
  return { [ANA]: ofAna, [BO]: ofBo, third: ofCy };
}

async function blocks(ana) {
  const { page } = ana;
  await seesAt(ana, `${address}/`, "The mill of Bo");
  await seesAt(ana, `${address}/`, `Story of ${BO}, 1 new`);
  await page.getByText("The mill of Bo").first().waitFor();
  await page.getByRole("article").getByRole("link", { name: BO }).first().click();
  await page.getByRole("button", { name: `More about ${BO}` }).click();
  await page.getByRole("button", { name: /^Block/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Block", exact: true }).click();
  await page.getByRole("heading", { name: `${BO} is blocked.` }).waitFor();
  await shoot(page, "blocked");
  await page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: "Home", exact: true })
    .click();
  await page.getByText("The pier of Ana").first().waitFor(); // The same feed as before, not a new one.
  assert.equal(await page.getByText("The mill of Bo").count(), 0, "their posts leave the feed at once");
  assert.equal(
    await page.getByRole("link", { name: `Story of ${BO}` }).count(),
    0,
    "and so do their stories",
  );
}

// Nobody has reloaded: the next look for news takes away what is no longer theirs to see.
async function feedEmpties({ page }) {
  await page.clock.fastForward(90_000);
  await page.getByText("The pier of Ana").first().waitFor({ state: "detached" });
  await page.getByText("The mill of Bo").first().waitFor();
}

async function seesNothingOf({ page, call }, name, posts) {
  await page.goto(`${address}/p/${posts.third.code}`);
  await page.getByText(`Words of ${name === ANA ? BO : ANA}`).waitFor();
  assert.equal(await page.getByText(`Words of ${name}`).count(), 0, "what they said is not there");
  await page.goto(`${address}/p/${posts[name].code}`);
  await page.getByRole("heading", { name: "This post is gone" }).waitFor();
  const { people } = await call("GET", `/search/people?q=${name}`); // It also finds names that are like this one.
  assert.ok(!people.some(({ username }) => username === name), "search does not know them");
  await page.goto(`${address}/@${name}`);
  await page.getByRole("heading", { name: "Nobody goes by that name" }).waitFor();
}

async function unblocks(ana, bo) {
  await ana.page.goto(`${address}/settings/privacy`);
  await ana.page.getByRole("radio", { name: "Blocked" }).check({ force: true });
  const isDone = ana.page.waitForResponse((answer) => answer.url().includes("/blocks/") && answer.ok());
  await ana.page.getByRole("button", { name: "Unblock" }).click();
  await isDone;
  await bo.page.goto(`${address}/@${ANA}`);
  await bo.page.getByRole("link", { name: "The pier of Ana" }).waitFor();
  await bo.page.getByRole("button", { name: /^Follow/, pressed: false }).waitFor();
}

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
