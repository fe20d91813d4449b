// A carousel: edited with a look, reordered, restored after a reload, described and published.
// node e2e/photoEditor.mjs ADDRESS PHOTO OTHER_PHOTO FOLDER: leaves preview.png (what the editor showed) and made.jpg
// (what the server made of it) in the folder, for comparison.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { launch, openPage, waitUntil } from "./support/browser.mjs";
import { join } from "./support/users.mjs";

const [address, photo, other, folder] = process.argv.slice(2);
const browser = await launch();
const consoleErrors = [];

try {
  const page = await openPage(browser, consoleErrors);
  await join(page, address, `maker${Date.now() % 1e9}`);
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", [photo, other]);
  await waitUntilUploaded(page, 2);

  await edit(page);
  await page.getByRole("button", { name: "Move photo 1 one position later" }).click();
  await page.locator("textarea.alt").nth(1).fill("Hills, in other colours");
  await page.locator("textarea.alt").nth(0).fill("A lake");
  await page.fill(".caption textarea", "Two of a kind #plates");

  await page.reload();
  await waitUntilUploaded(page, 2);
  assert.equal(
    await page.inputValue(".caption textarea"),
    "Two of a kind #plates",
    "a reload keeps the caption",
  );
  assert.equal(await page.locator("textarea.alt").nth(1).inputValue(), "Hills, in other colours");
  await page.getByRole("button", { name: "Edit again" }).waitFor();

  await page.getByRole("button", { name: "Publish" }).click();
  await page.waitForURL(`${address}/`);
  const article = page.getByRole("article").first();
  await article.getByText("Two of a kind").waitFor();
  await article.getByRole("img", { name: "A lake" }).first().waitFor();
  await page.goto(`${address}/create`);
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function waitUntilUploaded(page, count) {
  await page.waitForFunction((n) => document.querySelectorAll(".progress.ready").length === n, count);
}

// Saves the canvas of the editor, and the rendition that the server made of the same edit.
async function edit(page) {
  await page.getByRole("button", { name: "Edit" }).first().click();
  await page.getByRole("radio", { name: "Square" }).check({ force: true });
  await page.getByRole("button", { name: "Mirror" }).click();
  await page.getByRole("tab", { name: "Look" }).click();
  const plain = await stableScreenshot(page.locator(".editor-canvas canvas"));
  await page.getByRole("radio", { name: "Marigold" }).check({ force: true });
  const shown = await stableScreenshot(page.locator(".editor-canvas canvas"), plain);
  await writeFile(path.join(folder, "preview.png"), shown);
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/edits"));
  await page.getByRole("button", { name: "Done" }).click();
  const { urls } = await (await answered).json();
  const made = await page.request.get(address + urls["1080"]);
  await writeFile(path.join(folder, "made.jpg"), await made.body());
  await waitUntilUploaded(page, 2);
}

// A screenshot of the canvas once it no longer changes and differs from `before`.
async function stableScreenshot(canvas, before = Buffer.alloc(0)) {
  let [last, now] = [before, before];
  await waitUntil(async () => {
    [last, now] = [now, await canvas.screenshot()];
    return now.equals(last) && !now.equals(before);
  });
  return now;
}
