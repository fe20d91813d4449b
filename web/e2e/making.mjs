// A carousel is made: edited with a look, reordered, reloaded half-way, described, published.
// node e2e/making.mjs ADDRESS PHOTO OTHER_PHOTO FOLDER: leaves preview.png (what the editor showed) and made.jpg
// (what the server made of it) in the folder, for comparison.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { until } from "./kit.mjs";
import { join, openBrowser, openPage } from "./stage.mjs";

const [address, photo, other, folder] = process.argv.slice(2);
const browser = await openBrowser();
const troubles = [];

try {
  const page = await openPage(browser, troubles);
  await join(page, address, `maker${Date.now() % 1e9}`);
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", [photo, other]);
  await areReady(page, 2);

  await edit(page);
  await page.getByRole("button", { name: "Move photo 1 one place later" }).click();
  await page.locator("textarea.alt").nth(1).fill("Hills, in other colours");
  await page.locator("textarea.alt").nth(0).fill("A lake");
  await page.fill(".caption textarea", "Two of a kind #plates");

  await page.reload();
  await areReady(page, 2);
  assert.equal(
    await page.inputValue(".caption textarea"),
    "Two of a kind #plates",
    "a reload loses no words",
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
  assert.deepEqual(troubles, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function areReady(page, count) {
  await page.waitForFunction((n) => document.querySelectorAll(".progress.ready").length === n, count);
}

// The picture on the canvas, and the rendition that the server answered with for the same edit.
async function edit(page) {
  await page.getByRole("button", { name: "Edit" }).first().click();
  await page.getByRole("radio", { name: "Square" }).check({ force: true });
  await page.getByRole("button", { name: "Mirror" }).click();
  await page.getByRole("tab", { name: "Look" }).click();
  const plain = await steady(page.locator(".stage canvas"));
  await page.getByRole("radio", { name: "Marigold" }).check({ force: true });
  const shown = await steady(page.locator(".stage canvas"), plain);
  await writeFile(path.join(folder, "preview.png"), shown);
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/edits"));
  await page.getByRole("button", { name: "Done" }).click();
  const { urls } = await (await answered).json();
  const made = await page.request.get(address + urls["1080"]);
  await writeFile(path.join(folder, "made.jpg"), await made.body());
  await areReady(page, 2);
}

// What the canvas shows once it changes no more, and no longer what it showed before.
async function steady(canvas, before = Buffer.alloc(0)) {
  let [last, now] = [before, before];
  await until(async () => {
    [last, now] = [now, await canvas.screenshot()];
    return now.equals(last) && !now.equals(before);
  });
  return now;
}
