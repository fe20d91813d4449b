// Two users in two browsers: join, publish a carousel with a look, follow, see it in the feed, like it.
// node e2e/smoke.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]; exits with 1 and says what did not happen.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { launch, openPage, reloadUntilVisible, screenshot } from "./support/browser.mjs";
import { describe, frames, waitUntilUploaded } from "./support/composer.mjs";
import { join } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const run = Date.now().toString(36).slice(-5);
const ANA = `ana.${run}`;
const CAPTION = "First light over the harbour";
const browser = await launch();
const consoleErrors = [];

try {
  const ana = await openPage(browser, consoleErrors, { viewport: { width: 1280, height: 860 } });
  const bo = await openPage(browser, consoleErrors, { viewport: { width: 390, height: 800 } });
  await join(ana, address, ANA);
  await join(bo, address, `bo_${run}`);

  await publishCarousel(ana);
  await follow(bo);
  await assertFeedShowsLook(bo);
  await like(bo);

  await bo.goto(`${address}/nowhere/at/all`);
  await bo.getByRole("heading", { level: 1 }).waitFor();
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function publishCarousel(page) {
  await page.goto(`${address}/create`);
  const buffer = await readFile(photo);
  const files = ["dawn.jpg", "day.jpg"].map((name) => ({ name, mimeType: "image/jpeg", buffer }));
  await page.setInputFiles("input[type=file]", files);
  await waitUntilUploaded(page, 2);
  await frames(page).first().click();
  await page.getByRole("tab", { name: "Look" }).click();
  await page.getByRole("radio", { name: "Marigold" }).check({ force: true });
  await describe(page, "A harbour at dawn", "The same harbour by day");
  await page.fill(".caption textarea", CAPTION);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
  await page.getByRole("article").first().getByText(CAPTION).waitFor();
  await screenshot(page, shots, "home-desktop");
}

async function follow(page) {
  await page.goto(`${address}/@${ANA}`);
  const isFollowed = page.waitForResponse((answer) => answer.url().endsWith("/follow") && answer.ok());
  await page.locator("header button[aria-pressed]").click();
  await page.locator("header button[aria-pressed=true]").waitFor();
  await isFollowed;
  await screenshot(page, shots, "profile-phone");
}

// Both pictures of the carousel are there, and the edited one has other colours.
async function assertFeedShowsLook(page) {
  await reloadUntilVisible({ page }, `${address}/`, CAPTION);
  const article = page.getByRole("article").first();
  const colours = [await meanColour(article.getByRole("img", { name: "A harbour at dawn" }))];
  await screenshot(page, shots, "feed-phone");
  await article.getByRole("button", { name: "Next photo" }).click();
  await article.getByText("2/2").waitFor();
  colours.push(await meanColour(article.getByRole("img", { name: "The same harbour by day" })));
  const apart = Math.max(...colours[0].map((value, channel) => Math.abs(value - colours[1][channel])));
  assert.ok(apart > 3, `the look shows: ${JSON.stringify(colours)}`);
}

function meanColour(picture) {
  return picture.first().evaluate(async (img) => {
    await img.decode();
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.imageSmoothingQuality = "high";
    canvas.drawImage(img, 0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  });
}

async function like(page) {
  const like = page.getByRole("article").first().locator("button[aria-pressed]").first();
  const answered = page.waitForResponse(
    (answer) => answer.url().endsWith("/like") && answer.status() === 204,
  );
  await like.click();
  assert.equal(await like.getAttribute("aria-pressed"), "true", "a like shows at once");
  await answered;
  await page.reload();
  await page.getByRole("article").first().locator("button[aria-pressed=true]").first().waitFor();
}
