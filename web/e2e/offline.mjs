// Without a connection: what was seen is readable, a like and a comment wait through a reload, and arrive exactly once
// even when the first answers are lost. node e2e/offline.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { chromium } from "playwright-core";
import { openLine } from "./line.mjs";

const [address, photo, shots] = process.argv.slice(2);
const PASSWORD = "a fine password";
const WORDS = "Seen from the train";
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"],
});
const line = await openLine(address);

try {
  const ana = await join(address, "ana.offline");
  await publish(ana, "A harbour without signal");
  const bo = await join(line.address, "bo.offline");
  await bo.goto(`${line.address}/@ana.offline`);
  await bo.locator("header button[aria-pressed]").click();
  await bo.locator("header button[aria-pressed=true]").waitFor();
  await seesInFeed(bo, "A harbour without signal");
  const picture = bo.getByRole("article").first().locator("img").first();
  await bo.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await bo.reload(); // From now on the worker stands between the page and the line.
  await picture.waitFor();
  await bo.waitForFunction(() => document.querySelector("article .plate img")?.complete);
  await bo.waitForFunction(async () => (await (await caches.open("tintype-pictures")).keys()).length > 0);

  line.turn("cut");
  await bo.context().setOffline(true);
  const like = bo.getByRole("article").first().locator("button[aria-pressed]").first();
  await like.click();
  await bo.getByText("1 waiting").waitFor();
  await bo.locator("article .when").first().click();
  await bo.locator("dialog textarea").fill(WORDS);
  await bo.keyboard.press("Enter");
  await bo.locator("dialog").getByText("Waiting for a connection").waitFor();
  await bo.keyboard.press("Escape");
  await bo.locator("dialog").waitFor({ state: "detached" });
  await shoot(bo, "offline-waiting");

  await bo.context().setOffline(false); // The worker must not be spared: only the line is dead now.
  await bo.reload();
  await bo.getByText("2 waiting").waitFor();
  assert.equal(
    await like.getAttribute("aria-pressed"),
    "true",
    "a like that waits is still shown after a reload",
  );
  await bo.waitForFunction(() => document.querySelector("article .plate img")?.naturalWidth > 0);
  await shoot(bo, "offline-reloaded");

  line.turn("deaf");
  await bo.evaluate(() => dispatchEvent(new Event("online")));
  await bo.waitForTimeout(2_000);
  line.turn("open");
  await bo.evaluate(() => dispatchEvent(new Event("online")));
  await bo.getByText(/waiting/).waitFor({ state: "detached" });

  await ana.goto(`${address}/`);
  const facts = await ana.evaluate(async () => {
    const ask = async (path) => (await fetch(`/api/v1${path}`)).json();
    const { posts } = await ask("/feed");
    const { comments } = await ask(`/posts/${posts[0].post_id}/comments`);
    return { likes: posts[0].like_count, comments: comments.map(({ text }) => text) };
  });
  assert.deepEqual(facts, { likes: 1, comments: [WORDS] });
} finally {
  line.close();
  await browser.close();
}

async function join(base, username) {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 }, locale: "en-GB" });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  await page.goto(`${base}/join`);
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForURL(`${base}/`);
  return page;
}

async function publish(page, caption) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", photo);
  await page.waitForSelector(".progress.ready");
  await page.fill("textarea.alt", "A harbour");
  await page.fill(".caption textarea", caption);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
}

// The feed is filled by the worker: look again until it shows, as a person would.
async function seesInFeed(page, text) {
  const deadline = Date.now() + 30_000;
  for (;;) {
    await page.goto(`${line.address}/`);
    try {
      await page.getByText(text).first().waitFor({ timeout: 2_000 });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
