// A story for close friends with somebody named on it, who sees it; then a highlight of it: renamed, another cover, gone.
// node e2e/telling.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { canFind, person, until } from "./kit.mjs";
import { openBrowser } from "./stage.mjs";

const [address, photo, shots] = process.argv.slice(2);
const mark = (Date.now() % 1e9).toString(36);
const browser = await openBrowser();
const troubles = [];

try {
  const PHONE = { viewport: { width: 360, height: 740 } };
  const ana = await person(browser, address, `ana.${mark}`, { troubles });
  const bo = await person(browser, address, `bo.${mark}`, { troubles, ...PHONE });
  const cy = await person(browser, address, `cy.${mark}`, { troubles });
  for (const one of [bo, cy]) await one.call("PUT", `/accounts/${ana.id}/follow`);
  await canFind(ana, bo.username);

  await befriend(ana.page, bo.username);
  await tell(ana.page, bo.username);
  await until(async () => (await ring(bo, ana)) !== undefined);
  assert.equal(await ring(cy, ana), undefined, "others do not see what is for close friends");
  await seeOneself(bo, ana);
  await keep(ana);
  assert.deepEqual(troubles, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function befriend(page, username) {
  await page.goto(`${address}/settings/privacy`);
  await page.getByRole("combobox", { name: "Add somebody" }).fill(username);
  await page.getByRole("option", { name: username }).click();
  await page.getByRole("link", { name: `@${username}` }).waitFor();
}

async function tell(page, username) {
  await page.goto(`${address}/stories/new`);
  await page.setInputFiles("input[type=file]", photo);
  await page.getByLabel("Words on it").fill("Low tide");
  await page.getByRole("combobox", { name: "Mention somebody" }).fill(`@${username}`);
  await page.getByRole("option", { name: username }).waitFor();
  await page.keyboard.press("Enter");
  const name = page.getByRole("button", { name: `${username}: arrow keys move` });
  await name.waitFor();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
  await page.getByLabel("Close friends").check();
  await shoot(page, "new-story");
  const answered = page.waitForResponse((each) => each.url().endsWith("/stories") && each.ok());
  await page.locator("form button[type=submit]:enabled").click();
  const { mentions, audience } = await (await answered).json();
  assert.equal(audience, "close_friends");
  assert.ok(
    Math.abs(mentions[0].x - 0.54) < 0.001 && Math.abs(mentions[0].y - 0.48) < 0.001,
    "moved by keys",
  );
  await page.waitForURL(`${address}/`);
}

async function ring(who, author) {
  const { story_ring } = await who.call("GET", "/stories/feed");
  return story_ring.find(({ user_id }) => user_id === author.id);
}

// The name lies on the picture where it was put, whatever the shape of the screen.
async function seeOneself({ page, username }, author) {
  await page.goto(`${address}/stories/${author.id}`);
  const name = page.getByRole("link", { name: `@${username}` });
  await name.waitFor();
  await page.keyboard.press(" ");
  await page.waitForFunction(() => document.querySelector(".stage img")?.naturalWidth > 0);
  const at = await page.evaluate(placeOf);
  assert.ok(Math.abs(at.x - 0.54) < 0.02 && Math.abs(at.y - 0.48) < 0.02, JSON.stringify(at));
  await shoot(page, "story-mention");
  await name.click();
  await page.waitForURL(`${address}/@${username}`);
}

function placeOf() {
  const image = document.querySelector(".stage img");
  const box = image.getBoundingClientRect();
  const scale = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
  const width = image.naturalWidth * scale;
  const height = image.naturalHeight * scale;
  const name = document.querySelector(".stage .names a").getBoundingClientRect();
  return {
    x: (name.left + name.width / 2 - box.left - (box.width - width) / 2) / width,
    y: (name.top + name.height / 2 - box.top - (box.height - height) / 2) / height,
  };
}

async function keep({ page, id, username }) {
  await page.goto(`${address}/stories/${id}`);
  await menu(page, "Keep in a highlight");
  await page.getByLabel("Name of a new highlight").fill("Tides");
  await page.getByRole("button", { name: "Make" }).click();
  await page.getByText("Kept in “Tides”.").waitFor();

  await page.goto(`${address}/@${username}`);
  await page.getByRole("link", { name: "Tides" }).click();
  await menu(page, "Use this one as the cover");
  await page.getByText("This picture is the cover now.").waitFor();
  await menu(page, "Rename");
  await page.getByRole("textbox", { name: "Rename" }).fill("Low water");
  await page.getByRole("dialog").last().getByRole("button", { name: "Rename" }).click();
  await page.getByText("Renamed.").waitFor();
  await shoot(page, "highlight");
  await page.getByRole("button", { name: "Close" }).first().click();
  await page.getByRole("link", { name: "Low water" }).click();
  await menu(page, "Delete the highlight");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForURL(`${address}/@${username}`);
  await page.getByRole("link", { name: "Low water" }).waitFor({ state: "detached" });
}

async function menu(page, choice) {
  await page.getByRole("button", { name: "More about this story" }).click();
  await page.getByRole("button", { name: choice }).click();
}

async function shoot(page, title) {
  if (shots) await page.screenshot({ path: path.join(shots, `${title}.png`) });
}
