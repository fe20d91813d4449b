// Two people in two browsers on a running Tintype: sign up, post, follow, see it in the feed, like it.
// node e2e/skeleton.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]; exits with 1 and says what did not happen.

import assert from "node:assert/strict";
import path from "node:path";
import { chromium } from "playwright-core";

const [address, photo, shots] = process.argv.slice(2);
const PASSWORD = "a fine password";
const PATIENCE_MS = 30_000;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"],
});
const troubles = [];

try {
  const ana = await join("ana.mirov", { width: 1280, height: 860 });
  const bo = await join("bo_marsh", { width: 390, height: 800 });

  await publish(ana, "First light over the harbour", "A harbour at dawn");
  await ana.page.getByRole("article").first().getByText("First light over the harbour").waitFor();
  await shoot(ana, "home-desktop");

  await bo.page.goto(`${address}/@ana.mirov`);
  await bo.page.locator("header button[aria-pressed]").click();
  await bo.page.locator("header button[aria-pressed=true]").waitFor();
  await shoot(bo, "profile-phone");

  await seesInFeed(bo, "First light over the harbour");
  const picture = bo.page.getByRole("article").first().getByRole("img", { name: "A harbour at dawn" });
  await picture.waitFor();
  await shoot(bo, "feed-phone");

  const like = bo.page.getByRole("article").first().locator("button[aria-pressed]").first();
  const answered = bo.page.waitForResponse(
    (answer) => answer.url().endsWith("/like") && answer.status() === 204,
  );
  await like.click();
  assert.equal(await like.getAttribute("aria-pressed"), "true", "a like shows at once");
  await answered;
  await bo.page.reload();
  await bo.page.getByRole("article").first().locator("button[aria-pressed=true]").first().waitFor();

  await bo.page.goto(`${address}/nowhere/at/all`);
  await bo.page.getByRole("heading", { level: 1 }).waitFor();
  assert.deepEqual(troubles, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function join(username, viewport) {
  const context = await browser.newContext({ viewport, locale: "en-GB" });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on("pageerror", (error) => troubles.push(`${username}: ${error}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("404"))
      troubles.push(`${username}: ${message.text()}`);
  });
  await page.goto(`${address}/join`);
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
  return { page, username };
}

async function publish({ page }, caption, altText) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", photo);
  await page.waitForSelector(".progress.ready");
  await page.fill("textarea.alt", altText);
  await page.fill(".caption textarea", caption);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
}

// The feed is filled by the worker: look again until it shows, as a person would.
async function seesInFeed({ page }, text) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    await page.goto(`${address}/`);
    try {
      await page.getByText(text).first().waitFor({ timeout: 2_000 });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

async function shoot({ page }, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
