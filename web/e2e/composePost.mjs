// A post with a photo and a video: alt texts, a tagged person, a new place; restored after a reload, published and viewed.
// node e2e/composePost.mjs ADDRESS PHOTO CLIP [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { launch, screenshot, waitUntil } from "./support/browser.mjs";
import { describe, frames, publishAndWait, waitUntilSaved, waitUntilUploaded } from "./support/composer.mjs";
import { signIn, waitUntilSearchable } from "./support/users.mjs";

const [address, photo, clip, shots] = process.argv.slice(2);
const mark = (Date.now() % 1e9).toString(36);
const place = `Pier ${mark}`;
/** The video is transcoded after publishing; the page shows it once it is ready, without a reload. */
const TRANSCODING_MS = 120_000;
const browser = await launch("--autoplay-policy=no-user-gesture-required");
const consoleErrors = [];

try {
  const here = { latitude: 54.1 + (Date.now() % 1e6) / 1e7, longitude: 13.4 };
  const ana = await signIn(browser, address, `ana.${mark}`, {
    consoleErrors,
    geolocation: here,
    permissions: ["geolocation"],
  });
  const bo = await signIn(browser, address, `bo.${mark}`, {
    consoleErrors,
    viewport: { width: 360, height: 740 },
  });
  await waitUntilSearchable(ana, bo.username);
  await compose(ana.page, bo.username);
  await submit(ana.page);
  await viewPost(bo, ana);
  await findPlaceAgain(ana.page);
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function compose(page, username) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", [photo, clip]);
  await waitUntilUploaded(page, 2);
  await describe(page, "Two people on a pier", "Waves, moving");
  await frames(page).first().click();
  await page.getByRole("tab", { name: "People" }).click();
  const picture = page.locator(".slide:not([inert]) .tags");
  const box = await picture.boundingBox();
  await picture.click({ position: { x: box.width * 0.25, y: box.height * 0.75 } });
  await page.getByRole("combobox", { name: "Find somebody" }).fill(username);
  await page.getByRole("option", { name: username }).click();
  await page.getByRole("button", { name: `${username}: arrow keys move it` }).waitFor();
  await screenshot(page, shots, "tagging");
  await createPlace(page);
  await page.fill(".caption textarea", `By the water with @${username}`);
  await page.keyboard.press("Escape");
  await waitUntilSaved(page);

  await page.reload();
  await waitUntilUploaded(page, 2);
  await page.getByText(place).waitFor();
  await page.getByRole("tab", { name: "People" }).click();
  await page.getByRole("button", { name: `Remove ${username}` }).waitFor();
  await frames(page).nth(1).click();
  assert.equal(await page.inputValue("textarea.alt"), "Waves, moving");
  await screenshot(page, shots, "draft");
}

// There is no place here yet: the typed name creates one.
async function createPlace(page) {
  const asked = page.waitForResponse((answer) => answer.url().includes("/places/nearby"));
  await page.getByRole("button", { name: "Use my location" }).click();
  assert.equal((await asked).status(), 200);
  await page.getByRole("combobox", { name: "Place" }).fill(place);
  await page.getByRole("option", { name: place }).click();
  await page.getByText(place).waitFor();
}

async function submit(page) {
  await publishAndWait(page);
  await page.waitForURL(`${address}/`);
  await page.getByRole("article").first().getByText("By the water").waitFor();
}

async function viewPost(who, author) {
  const { page, username } = who;
  await waitUntil(async () => (await who.call("GET", `/accounts/${who.id}/tagged`)).posts.length > 0);
  await page.goto(`${address}/@${username}/tagged`);
  await page.locator("main a[href^='/p/']").first().waitFor();
  await page.goto(`${address}/@${author.username}`);
  await page.locator("main a[href^='/p/']").first().click();
  await page.getByText(place).waitFor();
  await page.getByRole("button", { name: "1 person tagged" }).click();
  const name = page.locator(".tags").getByRole("link", { name: `@${username}` });
  await name.waitFor();
  await screenshot(page, shots, "tagged");
  await page.getByRole("button", { name: "Next" }).click();
  await page.waitForFunction(() => document.querySelector("dialog video")?.currentTime > 0, null, {
    timeout: TRANSCODING_MS,
  });
  await name.waitFor({ state: "detached" });
}

// The next post finds it nearby.
async function findPlaceAgain(page) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Use my location" }).click();
  await page.getByRole("button", { name: place }).click();
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await page.getByRole("button", { name: "Choose files" }).waitFor();
}
