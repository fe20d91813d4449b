// The photo viewer: with fingers on a phone (tap, double tap, pinch, pan, swipe, Back), with keys and wheel on a desktop (Enter,
// arrows, Tab, Esc), and accessible to axe. It leaves where it was opened. A large photo is enlarged to 2048 px, and downloaded
// where its author allows it.
// node e2e/photoViewer.mjs ADDRESS

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { DESKTOP, launch, waitUntil } from "./support/browser.mjs";
import { openDarkroom } from "./support/pictures.mjs";
import { openTouch } from "./support/touch.mjs";
import { RUN, signIn, uploadFile } from "./support/users.mjs";

const [address] = process.argv.slice(2);
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await launch();
const consoleErrors = [];

try {
  const darkroom = await openDarkroom(browser);
  const ana = await signIn(browser, address, `vera.${RUN}`, { consoleErrors });
  for (const count of [1, 2]) {
    const media_ids = [];
    for (let made = 0; made < count; made++)
      media_ids.push(await uploadFile(ana, await darkroom.make(1080, 1350)));
    await ana.call("POST", "/posts", { media_ids, alt_texts: media_ids.map((_, index) => `Plate ${index}`) });
  }
  await useFingers(await signIn(browser, address, ana.username, { isNew: false, consoleErrors, ...PHONE }));
  await useKeys(await signIn(browser, address, ana.username, { isNew: false, consoleErrors, ...DESKTOP }));
  await enlargeAndDownload(
    await signIn(browser, address, ana.username, { isNew: false, consoleErrors, ...DESKTOP }),
    await darkroom.make(2400, 1600),
  );
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function useFingers({ page }) {
  const touch = await openTouch(page);
  const dialog = await showCarousel(page);
  const scrolled = await page.evaluate(() => scrollY);
  await openByTap(page, dialog);
  assert.equal(await scaleOf(page), 1, "a picture is fitted first");

  await touch.doubleTap(195, 422);
  await waitUntil(async () => (await scaleOf(page)) > 1.5);
  const before = await shiftOf(page);
  await touch.swipe([300, 422], [200, 422]);
  assert.ok((await shiftOf(page)) < before - 50, "one finger pans an enlarged picture");
  await touch.doubleTap(195, 422);
  await waitUntil(async () => (await scaleOf(page)) === 1);

  await touch.pinch([195, 422], 40, 180);
  const pinched = await scaleOf(page);
  assert.ok(pinched > 1.5, `two fingers enlarge: ${pinched}`);
  await touch.pinch([195, 422], 20, 190);
  await touch.pinch([195, 422], 20, 190);
  const stored = await page.evaluate(() => {
    const widths = document.querySelector("dialog [aria-hidden=false] img").srcset.match(/\d+(?=w)/g);
    return Math.max(...widths.map(Number)) / innerWidth;
  });
  assert.ok((await scaleOf(page)) <= stored + 0.01, "up to the stored size and no further");
  await touch.pinch([195, 422], 190, 10);
  await touch.pinch([195, 422], 190, 10);
  await waitUntil(async () => (await scaleOf(page)) === 1);

  await touch.swipe([330, 422], [60, 422]);
  await dialog.getByText("2/2").waitFor();
  const first = await page.locator("dialog .bar > a").getAttribute("href");
  await touch.swipe([330, 422], [60, 422]);
  await waitUntil(async () => (await page.locator("dialog .bar > a").getAttribute("href")) !== first);
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => scrollY), scrolled, "Back leaves where one was");

  await openByTap(page, dialog);
  await touch.swipe([195, 300], [195, 600]);
  await dialog.waitFor({ state: "detached" });
}

async function useKeys({ page }) {
  const dialog = await showCarousel(page);
  const button = page.locator("article:has-text('1/2') [data-picture]").first();
  await button.focus();
  const scrolled = await page.evaluate(() => scrollY);
  await page.keyboard.press("Enter");
  await dialog.waitFor();
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
  assert.deepEqual(
    violations.map(({ id, nodes }) => [id, nodes[0].html]),
    [],
    "axe",
  );
  for (let presses = 0; presses < 8; presses++) {
    await page.keyboard.press("Tab");
    assert.ok(
      await page.evaluate(
        () => document.activeElement === document.body || document.activeElement.closest("dialog") !== null,
      ),
      "the focus stays inside",
    );
  }
  await page.mouse.move(640, 430);
  await page.mouse.wheel(0, -400);
  await waitUntil(async () => (await scaleOf(page)) > 1.5);
  await page.keyboard.press("0");
  await waitUntil(async () => (await scaleOf(page)) === 1);
  await page.keyboard.press("ArrowRight");
  await dialog.getByText("2/2").waitFor();
  await page.keyboard.press("ArrowLeft");
  await dialog.getByText("1/2").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => scrollY), scrolled, "Esc leaves where one was");
  assert.ok(await button.evaluate((element) => element === document.activeElement), "the focus returns");
}

async function enlargeAndDownload({ page, ...author }, photo) {
  await author.call("PATCH", "/accounts/me", { allows_downloads: true });
  const media_ids = [await uploadFile({ page, ...author }, photo)];
  await author.call("POST", "/posts", { media_ids, alt_texts: ["A wide plate"] });
  await page.goto(`${address}/`);
  await page.getByRole("button", { name: "Latest" }).click();
  const article = page.locator("article:has(img[alt='A wide plate'])").first();
  await article.locator("[data-picture]").first().click();
  const image = page.locator("dialog .picture[aria-hidden=false] img");
  await waitUntil(() => image.evaluate(({ complete, naturalWidth }) => complete && naturalWidth > 0));
  for (let presses = 0; presses < 4; presses++) await page.keyboard.press("+");
  await waitUntil(() => image.evaluate(({ currentSrc }) => currentSrc.endsWith("/2048.jpg")));
  await waitUntil(() => image.evaluate(({ complete }) => complete));
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  assert.match((await download).suggestedFilename(), /^vera\..*-\d+\.jpg$/);
}

/** A tap that ends a fling is no click, for people neither: they tap again. */
async function openByTap(page, dialog) {
  const picture = page.locator("article:has-text('1/2') [data-picture]").first();
  await waitUntil(async () => {
    await picture.tap();
    return dialog.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
  });
}

/** The chronological feed, scrolled to the carousel; returns the viewer's dialog, which is not open yet. */
async function showCarousel(page) {
  await page.goto(`${address}/`);
  await page.getByRole("button", { name: "Latest" }).click();
  const image = page.locator("article:has-text('1/2') img").first();
  await image.scrollIntoViewIfNeeded();
  await page.waitForFunction(
    (image) => image.complete && image.naturalWidth > 0,
    await image.elementHandle(),
  );
  return page.locator("dialog:has(.stage)");
}

function matrixOf(page) {
  return page.evaluate(() => {
    const picture = document.querySelector("dialog .picture[aria-hidden=false]");
    const { a, e } = new DOMMatrix(getComputedStyle(picture).transform);
    return { scale: a, x: e };
  });
}

async function scaleOf(page) {
  return (await matrixOf(page)).scale;
}

async function shiftOf(page) {
  return (await matrixOf(page)).x;
}
