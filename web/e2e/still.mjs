// The feed stands still: nothing moves by itself while it loads, while one scrolls through three pages of it and while a post is
// opened over it; few articles exist at a time; going back finds the place; news waits behind a pill.
// node e2e/still.mjs ADDRESS PHOTO; exits with 1 and says what did not happen.

import assert from "node:assert/strict";
import { launch, person, publish, until } from "./kit.mjs";

const [address, photo] = process.argv.slice(2);
const POSTS = 27;
const AT_ONCE = 3;
const MOST_ARTICLES = 12;
const MOST_SHIFT = 0.02;
const PHONE = { width: 390, height: 844 };

const browser = await launch();
const troubles = [];
try {
  const run = Date.now().toString(36);
  const ana = await person(browser, address, `ana.${run}`, { troubles });
  const cy = await person(browser, address, `cy.${run}`, { troubles });
  const bo = await person(browser, address, `bo.${run}`, { troubles, viewport: PHONE, hasTouch: true });
  for (const { id } of [ana, cy]) await bo.call("PUT", `/accounts/${id}/follow`);
  await hang(ana, cy);
  await until(async () => (await bo.call("GET", "/feed?limit=12")).has_more);
  await bo.context.addInitScript(watchShifts);
  await bo.page.goto(`${address}/`);
  await bo.page.getByRole("article").first().getByRole("img").waitFor();

  const most = await scrollThrough(bo.page);
  assert.ok(most <= MOST_ARTICLES, `${most} articles at once`);
  await opensAndCloses(bo.page);
  await goesAndReturns(bo.page);
  const moved = await bo.page.evaluate(() => window.shifts);
  const total = moved.reduce((sum, { value }) => sum + value, 0);
  assert.ok(total <= MOST_SHIFT, `the page moved by ${total}: ${JSON.stringify(moved)}`);

  await waitsBehindPill(bo.page, ana);
  assert.deepEqual(troubles, [], "the console stays quiet");
  process.stdout.write(`moved by ${total.toFixed(4)}, at most ${most} articles at once\n`);
} finally {
  await browser.close();
}

/** By two people in turn: nobody may post as often in a day. */
async function hang(...authors) {
  for (let first = 1; first <= POSTS; first += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, more) =>
        publish(authors[(first + more) % authors.length], photo, `Plate ${first + more}`),
      ),
    );
}

/** What moves by itself, as the browser counts it: what follows a key or a tap is excused, what follows scrolling is not. */
function watchShifts() {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput)
        window.shifts.push({ value, at: scrollY, what: sources.map(({ node }) => node?.className ?? "") });
  }).observe({ type: "layout-shift", buffered: true });
}

/** To the end of what there is; the most articles that existed at a time. */
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

async function opensAndCloses(page) {
  await page.mouse.wheel(0, -2500);
  await page.waitForTimeout(500);
  const before = await page.evaluate(() => scrollY);
  await page.getByRole("article").nth(1).locator("a[data-over]").first().click();
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

async function goesAndReturns(page) {
  const before = await page.evaluate(() => scrollY);
  await page.getByRole("article").nth(1).locator("a.name").click();
  await page.waitForURL(/\/@/);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForTimeout(500);
  await page.goBack();
  await page.getByRole("article").first().waitFor();
  await until(async () => Math.abs((await page.evaluate(() => scrollY)) - before) <= 2, 5_000);
}

/** Looked for when the tab comes back into view, at the earliest half a minute after the last look. */
async function waitsBehindPill(page, ana) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.locator("[role=group] button[aria-pressed=false]").click(); // In the plain order of time the newest is first.
  await page.getByRole("article").first().getByRole("img").waitFor();
  await page.evaluate(() => scrollTo(0, 1_500));
  await publish(ana, photo, "The very newest");
  await page.clock.install({ time: Date.now() });
  const pill = page.locator(".place button");
  await until(async () => {
    await page.clock.fastForward(31_000);
    await page.evaluate(() => dispatchEvent(new Event("focus")));
    return pill.isVisible();
  });
  assert.equal(await page.evaluate(() => scrollY), 1_500, "news pushes nothing away");
  await pill.click();
  await page.getByText("The very newest").first().waitFor();
  await until(async () => (await page.evaluate(() => scrollY)) === 0, 5_000);
}
