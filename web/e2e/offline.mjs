// Without a connection: posts and stories that were seen are there, likes and a comment wait through a reload, and arrive
// exactly once even when the first answers are lost. node e2e/offline.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { launch, person, publish, seesAt, tellStory } from "./kit.mjs";
import { openLine } from "./line.mjs";

const [address, photo, shots] = process.argv.slice(2);
const run = Date.now().toString(36).slice(-5);
const ANA = `ana.${run}`;
const WORDS = "Seen from the train";
const phone = { viewport: { width: 390, height: 800 }, serviceWorkers: "allow" };
const browser = await launch();
const line = await openLine(address);

try {
  const ana = await person(browser, address, ANA, phone);
  const bo = await person(browser, line.address, `bo.${run}`, phone);
  const post = await publish(ana, photo, "A harbour without signal");
  await ana.call("POST", `/posts/${post.post_id}/comments`, { text: "The cranes were asleep" });
  await tellStory(ana, photo, "Boarding");
  await bo.call("PUT", `/accounts/${ana.id}/follow`);

  await looksAround(bo);
  await wishesWithoutLine(bo);
  await comesBackWithoutLine(bo);
  await drains(bo.page);
  assert.deepEqual(await books(ana, post), {
    likes: 1,
    comments: [`${WORDS}: 0`, "The cranes were asleep: 1"],
  });
} finally {
  line.close();
  await browser.close();
}

// Everything that shall be there later has to be seen once, with the service worker in between.
async function looksAround(bo) {
  const { page } = bo;
  await seesAt(bo, `${line.address}/`, "A harbour without signal");
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await seesAt(bo, `${line.address}/`, `Story of ${ANA}, 1 new`);
  await page.waitForFunction(() => document.querySelector("article .plate img")?.complete);
  await page.locator("article .when").first().click();
  await page.locator("dialog").getByText("The cranes were asleep").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: `Story of ${ANA}, 1 new` }).click();
  await page.getByText("Boarding").waitFor();
  await page.waitForFunction(() => document.querySelector(".player img")?.complete);
  await page.keyboard.press("Escape");
  await page.locator(".player").waitFor({ state: "detached" });
  await page.waitForFunction(async () => (await (await caches.open("tintype-pictures")).keys()).length > 1);
}

async function wishesWithoutLine({ page, context }) {
  line.turn("cut");
  await context.setOffline(true);
  await page.getByRole("article").first().locator("button[aria-pressed]").first().click();
  await page.getByText("1 waiting").waitFor();
  await page.locator("article .when").first().click();
  await page.locator("dialog").getByRole("button", { name: "Like the comment" }).click();
  await page.locator("dialog").getByRole("button", { name: "Like the comment", pressed: true }).waitFor();
  await page.locator("dialog textarea").fill(WORDS);
  await page.keyboard.press("Enter");
  await page.locator("dialog").getByText("Waiting for a connection").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.getByText("3 waiting").waitFor();
  await shoot(page, "offline-waiting");
}

async function comesBackWithoutLine({ page, context }) {
  await context.setOffline(false); // The worker must not be spared: only the line is dead now.
  await page.reload();
  await page.getByText("3 waiting").waitFor();
  const like = page.getByRole("article").first().locator("button[aria-pressed]").first();
  assert.equal(await like.getAttribute("aria-pressed"), "true", "a like that waits is shown after a reload");
  await page.waitForFunction(() => document.querySelector("article .plate img")?.naturalWidth > 0);
  await page.locator("article .when").first().click();
  await page.locator("dialog").getByRole("button", { name: "Like the comment", pressed: true }).waitFor();
  await page.goBack();
  await shoot(page, "offline-reloaded");
  await page.getByRole("link", { name: `Story of ${ANA}, seen` }).click();
  await page.getByText("Boarding").waitFor();
  await page.waitForFunction(() => document.querySelector(".player img")?.naturalWidth > 0);
  await shoot(page, "offline-story");
  await page.keyboard.press("Escape");
  await page.locator(".player").waitFor({ state: "detached" });
}

// First every answer is lost, so that everything is sent more than once.
async function drains(page) {
  const heard = page.waitForEvent("requestfailed", (request) => /\/like$/.test(request.url()));
  line.turn("deaf");
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await heard;
  line.turn("open");
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.getByText(/waiting/).waitFor({ state: "detached" });
}

async function books({ call }, { post_id }) {
  const { like_count } = await call("GET", `/posts/${post_id}`);
  const { comments } = await call("GET", `/posts/${post_id}/comments`);
  return { likes: like_count, comments: comments.map((each) => `${each.text}: ${each.like_count}`) };
}

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
