// A story for close friends with a mention; then a highlight of it: rename, change the cover, delete.
// node e2e/highlights.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { launch, screenshot, waitUntil } from "./support/browser.mjs";
import { signIn, waitUntilSearchable } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const mark = (Date.now() % 1e9).toString(36);
const browser = await launch();
const consoleErrors = [];

try {
  const PHONE = { viewport: { width: 360, height: 740 } };
  const ana = await signIn(browser, address, `ana.${mark}`, { consoleErrors });
  const bo = await signIn(browser, address, `bo.${mark}`, { consoleErrors, ...PHONE });
  const cy = await signIn(browser, address, `cy.${mark}`, { consoleErrors });
  for (const one of [bo, cy]) await one.call("PUT", `/accounts/${ana.id}/follow`);
  await waitUntilSearchable(ana, bo.username);

  await addCloseFriend(ana.page, bo.username);
  await createStory(ana.page, bo.username);
  await waitUntil(async () => (await findRing(bo, ana)) !== undefined);
  assert.equal(await findRing(cy, ana), undefined, "others do not see what is for close friends");
  await viewMention(bo, ana);
  await createHighlight(ana);
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function addCloseFriend(page, username) {
  await page.goto(`${address}/settings/privacy`);
  await page.getByRole("combobox", { name: "Add somebody" }).fill(username);
  await page.getByRole("option", { name: username }).click();
  await page.getByRole("link", { name: `@${username}` }).waitFor();
}

async function createStory(page, username) {
  await page.goto(`${address}/stories/new`);
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Stickers" }).click();
  await page.getByRole("button", { name: "Mention" }).click();
  await page.getByRole("combobox", { name: "Mention somebody" }).fill(`@${username}`);
  await page.getByRole("option", { name: username }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: `Mention of ${username}` }).focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
  await page.getByRole("button", { name: "Audience and description" }).click();
  await page.getByLabel("Close friends").check();
  await page.getByRole("dialog").last().getByRole("button", { name: "Done" }).click();
  await screenshot(page, shots, "new-story");
  const answered = page.waitForResponse((each) => each.url().endsWith("/stories") && each.ok());
  await page.locator("button:enabled", { hasText: "Share with close friends" }).click();
  const { elements, audience } = await (await answered).json();
  assert.equal(audience, "close_friends");
  assert.ok(
    Math.abs(elements[0].x - 0.52) < 0.001 && Math.abs(elements[0].y - 0.44) < 0.001,
    "moved by keys",
  );
  await page.waitForURL(`${address}/`);
}

async function findRing(who, author) {
  const { story_ring } = await who.call("GET", "/stories/feed");
  return story_ring.find(({ account_id }) => account_id === author.id);
}

// The mention keeps its position on the canvas, whatever the shape of the screen.
async function viewMention({ page, username }, author) {
  await page.goto(`${address}/stories/${author.id}`);
  const name = page.getByRole("link", { name: `@${username}` });
  await name.waitFor();
  await page.keyboard.press(" ");
  await page.waitForFunction(() => document.querySelector(".story-media img")?.naturalWidth > 0);
  const at = await page.evaluate(mentionPosition);
  assert.ok(Math.abs(at.x - 0.52) < 0.01 && Math.abs(at.y - 0.44) < 0.01, JSON.stringify(at));
  await screenshot(page, shots, "story-mention");
  await name.click();
  await page.waitForURL(`${address}/@${username}`);
}

function mentionPosition() {
  const box = document.querySelector(".story-media .canvas").getBoundingClientRect();
  const name = document.querySelector(".story-media .elements a").getBoundingClientRect();
  return {
    x: (name.left + name.width / 2 - box.left) / box.width,
    y: (name.top + name.height / 2 - box.top) / box.height,
  };
}

async function createHighlight({ page, id, username }) {
  await page.goto(`${address}/stories/${id}`);
  await openMenu(page, "Add to a highlight");
  await page.getByLabel("New highlight").fill("Tides");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("Added to “Tides”.").waitFor();

  await page.goto(`${address}/@${username}`);
  await page.getByRole("link", { name: "Tides" }).click();
  await openMenu(page, "Use as cover");
  await page.getByText("Cover changed.").waitFor();
  await openMenu(page, "Rename");
  await page.getByRole("textbox", { name: "Rename" }).fill("Low water");
  await page.getByRole("dialog").last().getByRole("button", { name: "Rename" }).click();
  await page.getByText("Renamed.").waitFor();
  await screenshot(page, shots, "highlight");
  await page.getByRole("button", { name: "Close" }).first().click();
  await page.getByRole("link", { name: "Low water" }).click();
  await openMenu(page, "Delete the highlight");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForURL(`${address}/@${username}`);
  await page.getByRole("link", { name: "Low water" }).waitFor({ state: "detached" });
}

async function openMenu(page, choice) {
  await page.getByRole("button", { name: "More options for this story" }).click();
  await page.getByRole("button", { name: choice }).click();
}
