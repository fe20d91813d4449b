// Layout stability of the feed: nothing shifts while it loads, scrolls over three pages or opens an overlay; only nearby posts
// are in the DOM; going back restores the scroll position; new posts wait behind a pill.
// node e2e/layoutStability.mjs ADDRESS PHOTO; exits with 1 and says what did not happen.

import assert from "node:assert/strict";
import { launch, waitUntil } from "./support/browser.mjs";
import { publish, signIn } from "./support/users.mjs";

const [address, photo] = process.argv.slice(2);
const POSTS = 27;
const CONCURRENT = 3;
const MAX_ARTICLES = 12;
const MAX_SHIFT = 0.02;
const PHONE = { width: 390, height: 844 };

const browser = await launch();
const consoleErrors = [];
try {
  const run = Date.now().toString(36);
  const ana = await signIn(browser, address, `ana.${run}`, { consoleErrors });
  const cy = await signIn(browser, address, `cy.${run}`, { consoleErrors });
  const bo = await signIn(browser, address, `bo.${run}`, { consoleErrors, viewport: PHONE, hasTouch: true });
  for (const { id } of [ana, cy]) await bo.call("PUT", `/accounts/${id}/follow`);
  await publishPosts(ana, cy);
  await waitUntil(async () => (await bo.call("GET", "/feed?limit=12")).has_more);
  await bo.context.addInitScript(watchShifts);
  await bo.page.goto(`${address}/`);
  await bo.page.getByRole("article").first().getByRole("img").waitFor();

  const most = await scrollThrough(bo.page);
  assert.ok(most <= MAX_ARTICLES, `${most} articles at once`);
  await openAndCloseOverlay(bo.page);
  await leaveAndReturn(bo.page);
  const moved = await bo.page.evaluate(() => window.shifts);
  const total = moved.reduce((sum, { value }) => sum + value, 0);
  assert.ok(total <= MAX_SHIFT, `the page moved by ${total}: ${JSON.stringify(moved)}`);

  await assertNewPostsWait(bo.page, ana);
  assert.deepEqual(consoleErrors, [], "no console errors");
  process.stdout.write(`moved by ${total.toFixed(4)}, at most ${most} articles at once\n`);
} finally {
  await browser.close();
}

/** By two users in turn, because of the daily limit of posts per user. */
async function publishPosts(...authors) {
  for (let first = 1; first <= POSTS; first += CONCURRENT)
    await Promise.all(
      Array.from({ length: CONCURRENT }, (_, more) =>
        publish(authors[(first + more) % authors.length], photo, `Plate ${first + more}`),
      ),
    );
}

/** Records layout shifts, except those that follow a key or a tap. */
function watchShifts() {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput)
        window.shifts.push({ value, at: scrollY, what: sources.map(({ node }) => node?.className ?? "") });
  }).observe({ type: "layout-shift", buffered: true });
}

/** Scrolls to the end; returns the largest number of articles in the DOM. */
async function scrollThrough(page) {
  let most = 0;
  for (let steps = 0; steps < 120; steps++) {
    await page.mouse.wheel(0, 700);
    await page.waitForTimeout(90);
    const { count, last } = await page.evaluate(() => {
      const places = [...document.querySelectorAll("article")].map((each) => Number(each.ariaPosInSet));
      return { count: places.length, last: Math.max(...places) };
    });
    most = Math.max(most, count);
    if (last >= POSTS) return most;
  }
  throw new Error("the feed did not go on for three pages");
}

async function openAndCloseOverlay(page) {
  await page.mouse.wheel(0, -2500);
  await page.waitForTimeout(500);
  const before = await page.evaluate(() => scrollY);
  await page.getByRole("article").nth(1).locator("a[data-overlay]").first().click();
  await page.getByRole("dialog").getByRole("img").first().waitFor();
  await page.waitForTimeout(500);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(
    await page.evaluate(() => scrollY),
    before,
    "a post opened over the feed leaves it where it was",
  );
}

async function leaveAndReturn(page) {
  const before = await page.evaluate(() => scrollY);
  await page.getByRole("article").nth(1).locator("a.name").click();
  await page.waitForURL(/\/@/);
  await page.getByRole("article").first().waitFor({ state: "detached" }); // Home has a heading, too: it stays until the profile is there.
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole("article").first().waitFor();
  await waitUntil(async () => Math.abs((await page.evaluate(() => scrollY)) - before) <= 2, 5_000);
}

/** The tab polls when it regains focus, but at most every half a minute. */
async function assertNewPostsWait(page, ana) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.locator("[role=group] button[aria-pressed=false]").click(); // In chronological order the newest post is first.
  await page.getByRole("article").first().getByRole("img").waitFor();
  await page.evaluate(() => scrollTo(0, 1_500));
  await publish(ana, photo, "The very newest");
  await page.clock.install({ time: Date.now() });
  const pill = page.locator(".pill-anchor button");
  await waitUntil(async () => {
    await page.clock.fastForward(31_000);
    await page.evaluate(() => dispatchEvent(new Event("focus")));
    return pill.isVisible();
  });
  assert.equal(await page.evaluate(() => scrollY), 1_500, "news pushes nothing away");
  await pill.click();
  await page.getByText("The very newest").first().waitFor();
  await waitUntil(async () => (await page.evaluate(() => scrollY)) === 0, 5_000);
}
