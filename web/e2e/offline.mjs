// Offline: viewed posts and stories stay readable, likes and a comment are queued over a reload and take effect exactly once,
// even when responses are lost. What its author deletes leaves the device.
// node e2e/offline.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { launch, reloadUntilVisible, screenshot, waitUntil } from "./support/browser.mjs";
import { openFlakyProxy } from "./support/flakyProxy.mjs";
import { publish, publishStory, signIn } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const run = Date.now().toString(36).slice(-5);
const ANA = `ana.${run}`;
const WORDS = "Seen from the train";
const phone = { viewport: { width: 390, height: 800 }, serviceWorkers: "allow" };
const browser = await launch();
const proxy = await openFlakyProxy(address);

try {
  const ana = await signIn(browser, address, ANA, phone);
  const bo = await signIn(browser, proxy.address, `bo.${run}`, phone);
  const post = await publish(ana, photo, "A harbour without signal");
  await ana.call("POST", `/posts/${post.post_id}/comments`, { text: "The cranes were asleep" });
  await publishStory(ana, photo, "Boarding");
  await bo.call("PUT", `/accounts/${ana.id}/follow`);

  await warmUpCaches(bo);
  await mutateOffline(bo);
  await reloadOffline(bo);
  await drainQueue(bo.page);
  assert.deepEqual(await serverState(ana, post), {
    likes: 1,
    comments: [`${WORDS}: 0`, "The cranes were asleep: 1"],
  });
  await forgetDeleted(ana, bo, post);
} finally {
  proxy.close();
  await browser.close();
}

// Views everything once through the service worker, so that it is cached.
async function warmUpCaches(bo) {
  const { page } = bo;
  await reloadUntilVisible(bo, `${proxy.address}/`, "A harbour without signal");
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await reloadUntilVisible(bo, `${proxy.address}/`, `${ANA}’s story, 1 new`);
  await page.waitForFunction(() => document.querySelector("article .media img")?.complete);
  await page.locator("article .when").first().click();
  await page.locator("dialog").getByText("The cranes were asleep").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: `${ANA}’s story, 1 new` }).click();
  await page.getByText("Boarding").waitFor();
  await page.waitForFunction(() => document.querySelector(".player img")?.complete);
  await page.keyboard.press("Escape");
  await page.locator(".player").waitFor({ state: "detached" });
  await page.waitForFunction(async () => {
    const name = (await caches.keys()).find((each) => each.startsWith("tintype-pictures-"));
    return name !== undefined && (await (await caches.open(name)).keys()).length > 1;
  });
}

async function mutateOffline({ page, context }) {
  proxy.setMode("refuse");
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
  await screenshot(page, shots, "offline-waiting");
}

async function reloadOffline({ page, context }) {
  await context.setOffline(false); // The service worker has to handle it: only the connection is down now.
  await page.reload();
  await page.getByText("3 waiting").waitFor();
  const like = page.getByRole("article").first().locator("button[aria-pressed]").first();
  assert.equal(await like.getAttribute("aria-pressed"), "true", "a queued like is shown after a reload");
  await page.waitForFunction(() => document.querySelector("article .media img")?.naturalWidth > 0);
  await page.locator("article .when").first().click();
  await page.locator("dialog").getByRole("button", { name: "Like the comment", pressed: true }).waitFor();
  await page.goBack();
  await screenshot(page, shots, "offline-reloaded");
  await page.getByRole("link", { name: `${ANA}’s story, seen` }).click();
  await page.getByText("Boarding").waitFor();
  await page.waitForFunction(() => document.querySelector(".player img")?.naturalWidth > 0);
  await screenshot(page, shots, "offline-story");
  await page.keyboard.press("Escape");
  await page.locator(".player").waitFor({ state: "detached" });
}

// First every response is lost, so that everything is sent more than once.
async function drainQueue(page) {
  const requestLost = page.waitForEvent("requestfailed", (request) => /\/like$/.test(request.url()));
  proxy.setMode("drop-responses");
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await requestLost;
  proxy.setMode("pass");
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.getByText(/waiting/).waitFor({ state: "detached" });
}

// The post is gone from the feed, and its files from the cache of the service worker.
async function forgetDeleted({ call }, { page }, { post_id, media }) {
  const folder = new URL(media[0].url, address).pathname.replace(/[^/]*$/, "");
  assert.ok(await page.evaluate(countCached, folder), "the photo was cached");
  await call("DELETE", `/posts/${post_id}`);
  await page.reload();
  await waitUntil(async () => (await page.evaluate(countCached, folder)) === 0);
}

async function countCached(folder) {
  const names = (await caches.keys()).filter((each) => each.startsWith("tintype-pictures-"));
  const keys = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return keys.flat().filter(({ url }) => new URL(url).pathname.startsWith(folder)).length;
}

async function serverState({ call }, { post_id }) {
  const { like_count } = await call("GET", `/posts/${post_id}`);
  const { comments } = await call("GET", `/posts/${post_id}/comments`);
  return { likes: like_count, comments: comments.map((each) => `${each.text}: ${each.like_count}`) };
}
