// The live connection: badges, the pill and counts arrive without polling; tabs share one connection, and the next tab takes it
// over; nothing is missed and nothing comes twice while the broker is killed; signing out ends it and leaves nothing behind.
// node e2e/live.mjs ADDRESS PHOTO HOME [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { screenshot, waitUntil } from "./support/browser.mjs";
import { deliveredSeqs, readLiveStores, recordUpdates, watchNetwork } from "./support/liveWatch.mjs";
import { kill } from "./support/stack.mjs";
import { publish, RUN, runFlow } from "./support/users.mjs";

const [address, photo, home, shots] = process.argv.slice(2);
const PATIENCE_MS = 120_000;
const UNREAD = "/api/v1/notifications/unread";
const SYNC = "/api/v1/sync";
const FANS = 6;

const badge = (page, name) => page.locator(`nav a[title="${name}"] b`);
const hasBadge = (page, name, text) =>
  waitUntil(async () => (await badge(page, name).allTextContents()).join() === text, PATIENCE_MS);
const patiently = (condition) => waitUntil(condition, PATIENCE_MS);

// While the broker is away the browser says that sockets fail, and requests may be answered with 503.
await runFlow(address, flow, /WebSocket|50[0-9]|ERR_/);

async function flow(signIn) {
  const [ana, bo] = [await signIn(`ana.${RUN}`), await signIn(`bo.${RUN}`)];
  const post = await publish(ana, photo, "The first of the year");
  await ana.call("PUT", `/accounts/${bo.id}/follow`);

  const first = watchNetwork(ana.page);
  await ana.page.goto(`${address}/`);
  await patiently(() => first.open().length === 1 && first.countRequests(SYNC) > 0);
  await recordUpdates(ana.page, ana.id);

  await showBadges(ana, bo, post, first);
  await showNewPosts(ana, bo);
  const second = await shareConnection(ana, bo, post, first);
  await surviveBroker(ana, bo, signIn, first);
  await takeOver(ana, bo, post, second);
  await signOut(second);
}

// A like and a message arrive as badges, and nobody has asked for the count.
async function showBadges(ana, bo, post, network) {
  const before = network.countRequests(UNREAD);
  await bo.call("PUT", `/posts/${post.post_id}/like`);
  await hasBadge(ana.page, "Activity", "1");
  assert.equal(network.countRequests(UNREAD), before, "the count was pushed, not polled");

  const { thread_id } = await bo.call("POST", "/direct/threads", { account_ids: [ana.id] });
  const message = { device_id: "bo", local_id: "one", counter: 1, text: "Are you there?" };
  await bo.call("POST", `/direct/threads/${thread_id}/messages`, message);
  await hasBadge(ana.page, "Messages", "1");
  await screenshot(ana.page, shots, "live-badges");
}

// A post of somebody whom one follows is offered, and its counts change while it is looked at.
async function showNewPosts(ana, bo) {
  const news = await publish(bo, photo, "Fresh from the darkroom");
  await ana.page.locator(".pill-anchor button").waitFor({ timeout: PATIENCE_MS });
  await screenshot(ana.page, shots, "live-pill");
  await ana.page.locator(".pill-anchor button").click();
  const article = ana.page.locator("article", { hasText: "Fresh from the darkroom" });
  await article.waitFor();
  await article.scrollIntoViewIfNeeded();
  await bo.call("PUT", `/posts/${news.post_id}/like`);
  await patiently(async () => (await article.locator("button .count").first().textContent()) === "1");
}

// A second tab has the same badges, and no connection of its own.
async function shareConnection(ana, bo, post, first) {
  const page = await ana.context.newPage();
  const network = watchNetwork(page);
  await page.goto(`${address}/activity`);
  await hasBadge(page, "Activity", "");
  await hasBadge(ana.page, "Activity", ""); // Read there, and so here.
  await bo.call("POST", `/posts/${post.post_id}/comments`, { text: "Lovely light" });
  await hasBadge(ana.page, "Activity", "1");
  await hasBadge(page, "Activity", "1");
  assert.equal(first.open().length + network.sockets.length, 1, "both tabs share one connection");
  return { page, network };
}

// Followers come while the broker is killed and started again.
async function surviveBroker(ana, bo, signIn, network) {
  const fans = [];
  for (let number = 0; number < FANS; number += 1) fans.push(await signIn(`fan${number}.${RUN}`));
  const connections = network.sockets.length;
  const isBack = await kill(home, address, "nats");
  for (const [number, fan] of fans.entries()) {
    if (number === FANS / 2) await isBack();
    await patiently(() =>
      fan.call("PUT", `/accounts/${ana.id}/follow`).then(
        () => true,
        () => false,
      ),
    );
  }
  await patiently(() => network.sockets.length > connections && network.open().length === 1);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  await patiently(async () => (await isAllDelivered(ana)) && (await areAllTold(ana)));
  const seqs = await deliveredSeqs(ana.page);
  const expected = Array.from(seqs, (_, index) => seqs[0] + index);
  assert.deepEqual(seqs, expected, "every update once and in order");
}

async function isAllDelivered(ana) {
  const { seq } = await ana.call("GET", "/sync");
  return (await deliveredSeqs(ana.page)).at(-1) === seq;
}

async function areAllTold(ana) {
  const { notifications } = await ana.call("GET", "/notifications");
  return notifications.some(({ kind, actor_count }) => kind === "follow" && actor_count === FANS + 1);
}

// The tab that holds the connection is closed: the other one connects.
async function takeOver(ana, bo, post, { page, network }) {
  assert.equal(network.sockets.length, 0);
  await ana.page.close();
  await patiently(() => network.open().length === 1);
  const before = Number(await badge(page, "Activity").textContent());
  const { comment_id } = await ana.call("POST", `/posts/${post.post_id}/comments`, { text: "Thank you" });
  await bo.call("PUT", `/comments/${comment_id}/like`);
  await patiently(async () => Number(await badge(page, "Activity").textContent()) > before);
}

async function signOut({ page, network }) {
  await page.locator('nav a[title="Settings"]').click();
  await page.getByRole("button", { name: "Log out" }).click();
  await patiently(() => network.open().length === 0);
  await patiently(async () => Object.values(await readLiveStores(page)).every((count) => count === 0));
}
