// Keeping: posts in collections, one's own post edited, put away and taken out again, and why a post is there.
// node e2e/keeping.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { person, publish, seesAt } from "./kit.mjs";
import { openBrowser } from "./stage.mjs";

const [address, photo, shots] = process.argv.slice(2);
const mark = (Date.now() % 1e9).toString(36);
const browser = await openBrowser();
const troubles = [];

try {
  const ana = await person(browser, address, `ana.${mark}`, { troubles });
  const bo = await person(browser, address, `bo.${mark}`, {
    troubles,
    viewport: { width: 360, height: 740 },
  });
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  const post = await publish(ana, photo, "A boat at noon");
  await seesAt(bo, `${address}/`, "A boat at noon");
  await askWhy(bo.page);
  await collect(bo.page);
  await tidyUp(bo.page);
  await edit(ana.page, post);
  await putAway(ana.page, bo.page, post);
  assert.deepEqual(troubles, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function menu(page, choice) {
  await page.getByRole("button", { name: /^More/ }).first().click();
  await page.getByRole("dialog").last().getByRole("button", { name: choice }).first().click();
}

async function askWhy(page) {
  await menu(page, "Why this post?");
  await page.getByText(/It is here because .*it is new/).waitFor();
  await page.getByText("How new it is").waitFor();
  await shoot(page, "why");
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
}

async function collect(page) {
  await menu(page, "Save to a collection");
  await page.getByLabel("New collection").fill("Boats");
  await page.getByRole("button", { name: "Make" }).click();
  await page.getByText("Saved in “Boats”.").waitFor();
  await page.locator("article button[aria-pressed=true]").first().waitFor();
}

async function tidyUp(page) {
  await page.goto(`${address}/saved`);
  await page.getByRole("link", { name: /^Boats/ }).click();
  await page.getByRole("heading", { name: "Boats" }).waitFor();
  await page.locator("main a[href^='/p/']").first().waitFor();
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Name", { exact: false }).last().fill("On the water");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /Keep|Save/ })
    .click();
  await page.getByRole("heading", { name: "On the water" }).waitFor();
  await shoot(page, "collection");
  await page.getByRole("button", { name: "Choose" }).click();
  await page.locator("main li button, main [aria-pressed]").first().click();
  await page.getByRole("button", { name: "Take out" }).click();
  await page.locator("main a[href^='/p/']").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(`${address}/saved`);
  await page.getByRole("link", { name: /On the water/ }).waitFor({ state: "detached" });
  await page.locator("main a[href^='/p/']").first().waitFor();
}

async function edit(page, { code }) {
  await page.goto(`${address}/p/${code}`);
  await menu(page, "Edit");
  await page.getByLabel("Caption").fill("A boat at noon, and nobody in it #boats");
  await page.getByLabel("Description of picture 1").fill("An empty boat");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("and nobody in it").waitFor();
  await page.getByRole("img", { name: "An empty boat" }).first().waitFor();
  await page.reload();
  await page.getByText("and nobody in it").waitFor();
}

async function putAway(page, other, { code }) {
  await menu(page, "Archive");
  await page.getByText("Archived. Only you see it now.").waitFor();
  await other.goto(`${address}/p/${code}`);
  await other.getByText("It was deleted, or its author").waitFor();
  await page.goto(`${address}/archive`);
  await shoot(page, "archive");
  await page.locator("main a[href^='/p/']").first().click();
  await menu(page, "Take out of the archive");
  await page.getByText("Everybody who could see it sees it again.").waitFor();
  await page.getByRole("button", { name: "Close" }).first().click();
  await page.waitForURL(`${address}/archive`);
  await page.locator("main a[href^='/p/']").waitFor({ state: "detached" });
  await other.reload();
  await other.getByText("and nobody in it").waitFor();
}

async function shoot(page, title) {
  if (shots) await page.screenshot({ path: path.join(shots, `${title}.png`) });
}
