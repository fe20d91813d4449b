// Two people at home: one comments in a post opened over the feed, the other answers; a story is seen, liked and
// answered. node e2e/evening.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { chromium } from "playwright-core";

const [address, photo, shots] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"],
});
const troubles = [];

try {
  const ana = await join("ana.evening", { width: 1280, height: 800 });
  await publish(ana, "Evening light");
  const bo = await join("bo.evening", { width: 390, height: 800 });
  await bo.goto(`${address}/@ana.evening`);
  await bo.locator("header button[aria-pressed]").click();
  await bo.locator("header button[aria-pressed=true]").waitFor();
  await seesInFeed(bo, "Evening light");

  await bo.locator("article .when").first().click();
  await bo.waitForURL(/\/p\//);
  await bo.locator("dialog textarea").fill("Where is this?");
  await bo.keyboard.press("Enter");
  await bo.locator("dialog").getByText("Where is this?").waitFor();
  await bo.goBack();
  await bo.waitForURL(`${address}/`);
  assert.equal(await bo.locator("dialog").count(), 0, "going back uncovers the feed");

  await seesInFeed(ana, "Evening light");
  await ana.locator("article .when").first().click();
  await ana.getByRole("button", { name: "Answer" }).first().click();
  await ana.keyboard.type("The old pier");
  await ana.keyboard.press("Enter");
  await ana.locator("dialog").getByText("@bo.evening The old pier").waitFor();
  await shoot(ana, "comments");
  await ana.reload(); // Now it is a page of its own.
  await ana.getByRole("button", { name: "1 answer" }).click();
  await ana.getByText("The old pier").waitFor();

  await ana.goto(`${address}/stories/new`);
  await ana.setInputFiles("input[type=file]", photo);
  await ana.locator("textarea").first().fill("Right now");
  await ana.locator("form button[type=submit]:enabled").click();
  await ana.waitForURL(`${address}/`);

  const plate = bo.getByRole("link", { name: "Story of ana.evening, 1 new" });
  await looksAgain(bo, plate);
  await plate.click();
  await bo.getByText("Right now").waitFor();
  await bo.keyboard.press(" ");
  await bo.getByRole("button", { name: "React with 🔥" }).click();
  await bo.locator(".player input").fill("So beautiful");
  const answered = bo.waitForResponse(
    (answer) => answer.url().endsWith("/replies") && answer.status() === 201,
  );
  await bo.keyboard.press("Enter");
  await answered;
  await shoot(bo, "story");
  await bo.evaluate(() => document.activeElement?.blur()); // In the field, Escape only leaves the field.
  await bo.keyboard.press("Escape");
  await bo.getByRole("link", { name: "Story of ana.evening, seen" }).waitFor();

  await ana.goto(`${address}/`);
  await ana.getByRole("link", { name: "Your story" }).click();
  await ana.getByRole("button", { name: /Seen by 1 person/ }).click();
  await ana.locator("dialog").getByText("bo.evening").last().waitFor();
  assert.deepEqual(troubles, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function join(username, viewport) {
  const context = await browser.newContext({ viewport, locale: "en-GB" });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  page.on("pageerror", (error) => troubles.push(`${username}: ${error}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("404"))
      troubles.push(`${username}: ${message.text()}`);
  });
  await page.goto(`${address}/join`);
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", "a fine password");
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
  return page;
}

async function publish(page, caption) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", photo);
  await page.waitForSelector(".progress.ready");
  await page.fill("textarea.alt", "A pier at dusk");
  await page.fill(".caption textarea", caption);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
}

// Feed and tray are filled by the worker: look again until they show it, as a person would.
async function looksAgain(page, wanted) {
  const deadline = Date.now() + 30_000;
  for (;;) {
    await page.goto(`${address}/`);
    try {
      await wanted.first().waitFor({ timeout: 2_500 });
      await page.waitForLoadState("networkidle"); // What arrives later may still move what one is about to touch.
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

function seesInFeed(page, text) {
  return looksAgain(page, page.getByText(text));
}

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
