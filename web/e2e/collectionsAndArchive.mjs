// Collections, editing and archiving a post, and the explanation of the ranking.
// node e2e/collectionsAndArchive.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { launch, reloadUntilVisible, screenshot } from "./support/browser.mjs";
import { publish, signIn } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const mark = (Date.now() % 1e9).toString(36);
const browser = await launch();
const consoleErrors = [];

try {
  const ana = await signIn(browser, address, `ana.${mark}`, { consoleErrors });
  const bo = await signIn(browser, address, `bo.${mark}`, {
    consoleErrors,
    viewport: { width: 360, height: 740 },
  });
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  const post = await publish(ana, photo, "A boat at noon");
  await reloadUntilVisible(bo, `${address}/`, "A boat at noon");
  await openExplanation(bo.page);
  await saveToCollection(bo.page);
  await editCollection(bo.page);
  await editPost(ana.page, post);
  await archive(ana.page, bo.page, post);
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function openMenu(page, choice) {
  await page.getByRole("button", { name: /^More/ }).first().click();
  await page.getByRole("dialog").last().getByRole("button", { name: choice }).first().click();
}

async function openExplanation(page) {
  await openMenu(page, "Why this post?");
  await page.getByText(/It is here because .*it is new/).waitFor();
  await page.getByText("How new it is").waitFor();
  await screenshot(page, shots, "why");
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
}

async function saveToCollection(page) {
  await openMenu(page, "Save to a collection");
  await page.getByLabel("New collection").fill("Boats");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("Saved in “Boats”.").waitFor();
  await page.locator("article button[aria-pressed=true]").first().waitFor();
}

async function editCollection(page) {
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
  await screenshot(page, shots, "collection");
  await page.getByRole("button", { name: "Select" }).click();
  await page.locator("main li button, main [aria-pressed]").first().click();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await page.locator("main a[href^='/p/']").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(`${address}/saved`);
  await page.getByRole("link", { name: /On the water/ }).waitFor({ state: "detached" });
  await page.locator("main a[href^='/p/']").first().waitFor();
}

async function editPost(page, { code }) {
  await page.goto(`${address}/p/${code}`);
  await openMenu(page, "Edit");
  await page.getByLabel("Caption").fill("A boat at noon, and nobody in it #boats");
  await page.getByLabel("Description of picture 1").fill("An empty boat");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("and nobody in it").waitFor();
  await page.getByRole("img", { name: "An empty boat" }).first().waitFor();
  await page.reload();
  await page.getByText("and nobody in it").waitFor();
}

async function archive(page, other, { code }) {
  await openMenu(page, "Archive");
  await page.getByText("Archived. Only you can see it now.").waitFor();
  await other.goto(`${address}/p/${code}`);
  await other.getByText("It was deleted, or its author").waitFor();
  await page.goto(`${address}/archive`);
  await screenshot(page, shots, "archive");
  await page.locator("main a[href^='/p/']").first().click();
  await openMenu(page, "Unarchive");
  await page.getByText("Unarchived. It is visible again.").waitFor();
  await page.getByRole("button", { name: "Close" }).first().click();
  await page.waitForURL(`${address}/archive`);
  await page.locator("main a[href^='/p/']").waitFor({ state: "detached" });
  await other.reload();
  await other.getByText("and nobody in it").waitFor();
}
