// One's own account, as its owner changes it: face, words, address, phone, what one is told, and where.
// node e2e/account.mjs ADDRESS PHOTO FOLDER_OF_MAILS [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import { createECDH, randomBytes } from "node:crypto";
import path from "node:path";
import { mailed } from "./mailbox.mjs";
import { join, openBrowser, openPage } from "./stage.mjs";

const [address, photo, mails, shots] = process.argv.slice(2);
const name = `own${Date.now() % 1e9}`;
const browser = await openBrowser();
const troubles = [];

try {
  const page = await openPage(browser, troubles);
  await page.context().grantPermissions(["notifications"], { origin: address });
  await join(page, address, name);

  await page.goto(`${address}/settings/profile`);
  await changeFace(page);
  await page.fill("[name=full_name]", "Olive Wren");
  await page.fill("[name=bio]", "Plates and tides. #harbour");
  await page.fill("[name=website]", "https://example.org/olive");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").last().waitFor();
  await shoot(page, "settings-profile");
  await page.goto(`${address}/@${name}`);
  await page.getByText("Plates and tides.").waitFor();
  await page.locator("header .avatar img").first().waitFor();

  await page.goto(`${address}/settings/account`);
  await changeAddress(page);
  await changePhone(page);
  await shoot(page, "settings-account");

  await page.goto(`${address}/settings/notifications`);
  await chooseNews(page);
  await failToRing(page);
  await ring(await page.context().newPage());
  await shoot(page, "settings-notifications");
  // The browser's own word on private windows; ours is on the page.
  assert.deepEqual(
    troubles.filter((each) => !each.includes("Push API in incognito")),
    [],
    "the console stays quiet",
  );
} finally {
  await browser.close();
}

async function changeFace(page) {
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator("main .avatar img").first().waitFor();
  await page.getByRole("button", { name: "Remove picture" }).click();
  await page.locator("main .avatar img").first().waitFor({ state: "detached" });
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator("main .avatar img").first().waitFor();
}

// It waits until the link in the mail is followed, and counts from then on.
async function changeAddress(page) {
  const email = `${name}@example.org`;
  await page.fill("[name=email]", "not an address");
  await page.getByRole("button", { name: "Send confirmation" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.fill("[name=email]", email);
  await page.getByRole("button", { name: "Send confirmation" }).click();
  await page.getByText(`${email} waits for you`).waitFor();
  await page.goto(`${address}/confirm-email#${await mailed(mails, email, "confirm-email")}`);
  await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor();
  await page.goto(`${address}/settings/account`);
  await page.locator("strong", { hasText: email }).waitFor();
}

async function changePhone(page) {
  await page.fill("[name=phone]", "12");
  await savePhone(page);
  await page.getByRole("alert").first().waitFor();
  await page.fill("[name=phone]", `+49 171 ${1_000_000 + (Date.now() % 8_000_000)}`);
  await savePhone(page);
  await page.getByText("Saved.").last().waitFor();
  await page.reload();
  await page.waitForFunction(() => document.querySelector("[name=phone]")?.value.startsWith("+49171"));
}

function savePhone(page) {
  return page
    .locator("form", { has: page.locator("[name=phone]") })
    .getByRole("button")
    .click();
}

async function chooseNews(page) {
  const likes = page.getByRole("combobox", { name: "Likes: from whom" });
  const kept = page.waitForResponse((answer) => answer.url().endsWith("/settings/kinds/like") && answer.ok());
  await likes.selectOption("following");
  await kept;
  const quiet = page.waitForResponse((answer) => answer.url().endsWith("/quiet-hours") && answer.ok());
  await page.getByText("Keep quiet hours").click();
  await quiet;
  await page.reload();
  await page.locator("input[type=time]").first().waitFor();
  assert.equal(await page.locator("input[type=time]").first().inputValue(), "22:00");
  assert.equal(await likes.inputValue(), "following");
}

// A private window has no push service: it says so, and the button is there for another try.
async function failToRing(page) {
  const start = page.getByRole("button", { name: "Notify me in this browser" });
  await start.click();
  await page.getByText(/push service cannot be reached/).waitFor();
  await start.waitFor();
}

// The push service of a browser is somebody else's; here it is played.
async function ring(page) {
  const keys = createECDH("prime256v1");
  const p256dh = keys.generateKeys("base64url");
  await page.addInitScript(playPushService, { p256dh, auth: randomBytes(16).toString("base64url") });
  await page.goto(`${address}/settings/notifications`);
  await page.getByRole("button", { name: "Notify me in this browser" }).click();
  await page.getByText("This browser tells you from now on.").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("No browser tells you yet.").waitFor();
}

function playPushService(keys) {
  let made = null;
  PushManager.prototype.getSubscription = async () => made;
  PushManager.prototype.subscribe = async () => {
    const endpoint = `https://push.example.org/${keys.auth}`;
    const unsubscribe = async () => {
      made = null;
      return true;
    };
    made = { endpoint, unsubscribe, toJSON: () => ({ endpoint, keys }) };
    return made;
  };
}

async function shoot(page, title) {
  if (shots) await page.screenshot({ path: path.join(shots, `${title}.png`), fullPage: true });
}
