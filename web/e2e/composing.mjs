// A post with a photo and a clip: described one by one, somebody tagged, a place named, left half-way, published, looked at.
// node e2e/composing.mjs ADDRESS PHOTO CLIP [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { canFind, person, until } from "./kit.mjs";
import { openBrowser } from "./stage.mjs";

const [address, photo, clip, shots] = process.argv.slice(2);
const mark = (Date.now() % 1e9).toString(36);
const place = `Pier ${mark}`;
/** The clip is made after its post: the page shows it once it is there, without a reload. */
const MAKING_MS = 120_000;
const browser = await openBrowser("--autoplay-policy=no-user-gesture-required");
const troubles = [];

try {
  const here = { latitude: 54.1 + (Date.now() % 1e6) / 1e7, longitude: 13.4 };
  const ana = await person(browser, address, `ana.${mark}`, {
    troubles,
    geolocation: here,
    permissions: ["geolocation"],
  });
  const bo = await person(browser, address, `bo.${mark}`, {
    troubles,
    viewport: { width: 360, height: 740 },
  });
  await canFind(ana, bo.username);
  await compose(ana.page, bo.username);
  await publish(ana.page);
  await look(bo, ana);
  await findPlaceAgain(ana.page);
  assert.deepEqual(troubles, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function compose(page, username) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", [photo, clip]);
  await areReady(page);
  await page.locator("textarea.alt").nth(0).fill("Two people on a pier");
  await page.locator("textarea.alt").nth(1).fill("Waves, moving");
  await page.getByRole("button", { name: "Tag people" }).click();
  const picture = page.getByRole("dialog").locator(".names");
  const box = await picture.boundingBox();
  await picture.click({ position: { x: box.width * 0.25, y: box.height * 0.75 } });
  await page.getByRole("combobox", { name: "Find somebody" }).fill(username);
  await page.getByRole("option", { name: username }).click();
  await shoot(page, "tagging");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "1 person tagged" }).waitFor();
  await namePlace(page);
  await page.fill(".caption textarea", `By the water with @${username}`);
  await page.keyboard.press("Escape");

  await page.reload();
  await areReady(page);
  await page.getByRole("button", { name: "1 person tagged" }).waitFor();
  await page.getByText(place).waitFor();
  assert.equal(await page.locator("textarea.alt").nth(1).inputValue(), "Waves, moving");
  await shoot(page, "draft");
}

async function areReady(page) {
  await page.waitForFunction(() => document.querySelectorAll(".progress.ready").length === 2);
}

// Nobody has named anything here yet: what one types becomes a place.
async function namePlace(page) {
  const asked = page.waitForResponse((answer) => answer.url().includes("/places/nearby"));
  await page.getByRole("button", { name: "Use where I am" }).click();
  assert.equal((await asked).status(), 200);
  await page.getByRole("combobox", { name: "Place" }).fill(place);
  await page.getByRole("option", { name: place }).click();
  await page.getByText(place).waitFor();
}

async function publish(page) {
  await page.getByRole("button", { name: "Publish" }).click();
  await page.waitForURL(`${address}/`);
  await page.getByRole("article").first().getByText("By the water").waitFor();
}

async function look(who, author) {
  const { page, username } = who;
  await until(async () => (await who.call("GET", `/accounts/${who.id}/tagged`)).posts.length > 0);
  await page.goto(`${address}/@${username}/tagged`);
  await page.locator("main a[href^='/p/']").first().waitFor();
  await page.goto(`${address}/@${author.username}`);
  await page.locator("main a[href^='/p/']").first().click();
  await page.getByText(place).waitFor();
  await page.getByRole("button", { name: "1 person is in it" }).click();
  const name = page.locator(".over").getByRole("link", { name: `@${username}` });
  await name.waitFor();
  await shoot(page, "tagged");
  await page.getByRole("button", { name: "Next" }).click();
  await page.waitForFunction(() => document.querySelector("dialog video")?.currentTime > 0, null, {
    timeout: MAKING_MS,
  });
  await name.waitFor({ state: "detached" });
}

// The next post finds it near by.
async function findPlaceAgain(page) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Use where I am" }).click();
  await page.getByRole("button", { name: place }).click();
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await page.getByRole("button", { name: "Choose files" }).waitFor();
}

async function shoot(page, title) {
  if (shots) await page.screenshot({ path: path.join(shots, `${title}.png`) });
}
