// A carousel: edited with a look, reordered, restored after a reload, described and published.
// node e2e/photoEditor.mjs ADDRESS PHOTO OTHER_PHOTO FOLDER: leaves preview.png (what the editor showed) and made.jpg
// (what the server made of it) in the folder, for comparison.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { launch, openPage, waitUntil } from "./support/browser.mjs";
import { describe, frames, publishAndWait, waitUntilSaved, waitUntilUploaded } from "./support/composer.mjs";
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
  await describe(page, "A lake", "Hills, in other colours");
  await page.fill(".caption textarea", "Two of a kind #plates");
  await waitUntilSaved(page);

  await page.reload();
  await waitUntilUploaded(page, 2);
  assert.equal(
    await page.inputValue(".caption textarea"),
    "Two of a kind #plates",
    "a reload keeps the caption",
  );
  await frames(page).nth(1).click();
  assert.equal(await page.inputValue("textarea.alt"), "Hills, in other colours");
  await page.getByRole("tab", { name: "Look" }).click();
  assert.ok(await page.getByRole("radio", { name: "Marigold" }).isChecked(), "a reload keeps the look");

  const answered = page.waitForResponse((answer) => answer.url().endsWith("/edits"));
  await publishAndWait(page);
  await page.waitForURL(`${address}/`);
  const { urls } = await (await answered).json();
  await writeFile(
    path.join(folder, "made.jpg"),
    await (await page.request.get(address + urls["1080"])).body(),
  );
  const article = page.getByRole("article").first();
  await article.getByText("Two of a kind").waitFor();
  await article.getByRole("img", { name: "A lake" }).first().waitFor();
  await page.goto(`${address}/create`);
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

// Saves the picture as the composer shows it with its edit.
async function edit(page) {
  await frames(page).first().click();
  await page.getByRole("tab", { name: "Crop" }).click();
  await page.getByRole("radio", { name: "Square" }).check({ force: true });
  await page.getByRole("button", { name: "Mirror" }).click();
  await page.getByRole("tab", { name: "Look" }).click();
  const canvas = page.locator(".slide:not([inert]) canvas[role=img]");
  const plain = await stableScreenshot(canvas);
  await page.getByRole("radio", { name: "Marigold" }).check({ force: true });
  await writeFile(path.join(folder, "preview.png"), await stableScreenshot(canvas, plain));
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
