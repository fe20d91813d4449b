// The account settings: profile picture and text, email, phone, notifications and push.
// node e2e/accountSettings.mjs ADDRESS PHOTO MAIL_FOLDER [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { createECDH, randomBytes } from "node:crypto";
import { launch, openPage, screenshot } from "./support/browser.mjs";
import { waitForMailSecret } from "./support/mailbox.mjs";
import { join } from "./support/users.mjs";

const [address, photo, mails, shots] = process.argv.slice(2);
const name = `own${Date.now() % 1e9}`;
const browser = await launch();
const consoleErrors = [];

try {
  const page = await openPage(browser, consoleErrors);
  await page.context().grantPermissions(["notifications"], { origin: address });
  await join(page, address, name);

  await page.goto(`${address}/settings/profile`);
  await changeAvatar(page);
  await page.fill("[name=full_name]", "Olive Wren");
  await page.fill("[name=bio]", "Plates and tides. #harbour");
  await page.fill("[name=website]", "https://example.org/olive");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").last().waitFor();
  await screenshot(page, shots, "settings-profile", { fullPage: true });
  await page.goto(`${address}/@${name}`);
  await page.getByText("Plates and tides.").waitFor();
  await page.locator("header .avatar img").first().waitFor();

  await page.goto(`${address}/settings/account`);
  await changeEmail(page);
  await changePhone(page);
  await screenshot(page, shots, "settings-account", { fullPage: true });

  await page.goto(`${address}/settings/notifications`);
  await changeNotificationSettings(page);
  await failToSubscribe(page);
  await subscribeToPush(await page.context().newPage());
  await screenshot(page, shots, "settings-notifications", { fullPage: true });
  // The browser logs this for private windows; the page has its own message.
  assert.deepEqual(
    consoleErrors.filter((each) => !each.includes("Push API in incognito")),
    [],
    "no console errors",
  );
} finally {
  await browser.close();
}

async function changeAvatar(page) {
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator("main .avatar img").first().waitFor();
  await page.getByRole("button", { name: "Remove picture" }).click();
  await page.locator("main .avatar img").first().waitFor({ state: "detached" });
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator("main .avatar img").first().waitFor();
}

// A new address is pending until the link in the mail is followed.
async function changeEmail(page) {
  const email = `${name}@example.org`;
  await page.fill("[name=email]", "not an address");
  await page.getByRole("button", { name: "Send confirmation" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.fill("[name=email]", email);
  await page.getByRole("button", { name: "Send confirmation" }).click();
  await page.getByText(`${email} is not confirmed yet`).waitFor();
  await page.goto(`${address}/confirm-email#${await waitForMailSecret(mails, email, "confirm-email")}`);
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

async function changeNotificationSettings(page) {
  const likes = page.getByRole("combobox", { name: "Likes: from whom" });
  const kept = page.waitForResponse((answer) => answer.url().endsWith("/settings/kinds/like") && answer.ok());
  await likes.selectOption("following");
  await kept;
  const quiet = page.waitForResponse((answer) => answer.url().endsWith("/quiet-hours") && answer.ok());
  await page.getByText("Use quiet hours").click();
  await quiet;
  await page.reload();
  await page.locator("input[type=time]").first().waitFor();
  assert.equal(await page.locator("input[type=time]").first().inputValue(), "22:00");
  assert.equal(await likes.inputValue(), "following");
}

// A private window has no push service: the page says so, and the button stays for a retry.
async function failToSubscribe(page) {
  const start = page.getByRole("button", { name: "Notify me in this browser" });
  await start.click();
  await page.getByText(/push service cannot be reached/).waitFor();
  await start.waitFor();
}

// With a fake push service.
async function subscribeToPush(page) {
  const keys = createECDH("prime256v1");
  const p256dh = keys.generateKeys("base64url");
  await page.addInitScript(fakePushService, { p256dh, auth: randomBytes(16).toString("base64url") });
  await page.goto(`${address}/settings/notifications`);
  await page.getByRole("button", { name: "Notify me in this browser" }).click();
  await page.getByText("This browser will notify you.").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("No browsers yet.").waitFor();
}

function fakePushService(keys) {
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
