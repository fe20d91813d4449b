// A phone, by real touch events: comments in a sheet with the field at its lower edge, pulling down to refresh, stories that follow
// the finger, the address that follows the story; no hover styles stay after a tap, and the navigation scrolls in low windows.
// node e2e/phoneGestures.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { reloadUntilVisible, screenshot, waitUntil } from "./support/browser.mjs";
import { openTouch } from "./support/touch.mjs";
import { publish, publishStory, RUN, runFlow } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, bypassCSP: true };

await runFlow(address, async (signIn) => {
  const ana = await signIn(`ana.${RUN}`);
  const cy = await signIn(`cy.${RUN}`);
  const bo = await signIn(`bo.${RUN}`, PHONE);
  for (const { id } of [ana, cy]) await bo.call("PUT", `/accounts/${id}/follow`);
  const post = await publish(ana, photo, "A quiet harbour");
  for (let number = 1; number <= 14; number++)
    await ana.call("POST", `/posts/${post.post_id}/comments`, { text: `Comment number ${number}` });
  await publishStory(ana, photo, "Boarding");
  await publishStory(ana, photo, "Arrived");
  await publishStory(cy, photo, "From the hills");
  await reloadUntilVisible(bo, `${address}/`, "A quiet harbour");

  const touch = await openTouch(bo.page);
  await commentInSheet(bo.page, touch);
  await pullToRefresh(bo, ana, touch);
  await swipeStories(bo.page, touch, ana, cy);
  await scrollNavigation(bo.page);
});

async function commentInSheet(page, touch) {
  const link = page.getByRole("link", { name: "14 comments" });
  await link.tap();
  const sheet = page.getByRole("dialog", { name: "Comments" });
  await sheet.getByText("Comment number 14").waitFor();
  assert.equal(new URL(page.url()).pathname, "/", "the sheet is over the feed");
  const field = sheet.getByRole("textbox", { name: "Your comment" });
  await waitUntil(async () => (await field.boundingBox()).y > 844 * 0.75);
  await screenshot(page, shots, "comments-sheet");
  await assertAccessible(page);
  await field.fill("Lovely light");
  await page.keyboard.press("Enter");
  await sheet.getByText("Lovely light").waitFor();
  assert.equal(await page.evaluate(() => matchMedia("(hover: hover)").matches), false);

  const box = await sheet.boundingBox();
  await touch.hold([195, box.y + 12], [195, box.y + 80]);
  await waitUntil(async () => (await sheet.boundingBox()).y > box.y + 50);
  await touch.lift();
  await waitUntil(async () => Math.abs((await sheet.boundingBox()).y - box.y) < 2);
  await touch.swipe([195, box.y + 12], [195, box.y + 460]);
  await sheet.waitFor({ state: "detached" });
  // A tap right after a swipe may only stop what the browser takes for a fling.
  await waitUntil(async () => {
    await page.getByRole("link", { name: "15 comments" }).tap();
    return sheet.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
  });
  await page.goBack();
  await sheet.waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).pathname, "/", "going back closed the sheet only");
}

async function pullToRefresh({ page, call }, ana, touch) {
  await page.evaluate(() => scrollTo(0, 0));
  await publish(ana, photo, "Just arrived");
  await waitUntil(
    async () => (await call("GET", "/feed?mode=following")).posts[0].caption === "Just arrived",
  );
  assert.equal(await page.getByText("Just arrived").count(), 0, "nothing moves by itself");
  await touch.hold([195, 200], [195, 520]);
  await waitUntil(async () => (await page.locator(".pull").boundingBox()).y > 0);
  await screenshot(page, shots, "pull-to-refresh");
  await touch.lift();
  await page.getByText("Just arrived").first().waitFor();
  const first = page.getByRole("article").first();
  assert.match(await first.innerText(), /Just arrived/, "what somebody just posted is on top");
}

async function swipeStories(page, touch, ana, cy) {
  const names = [ana, cy].map(({ username }) => username);
  await page.reload();
  const rings = page.getByRole("link", { name: /’s story/ });
  await rings.first().waitFor();
  await rings.first().tap();
  const player = page.locator(".player");
  await player.getByRole("img").first().waitFor();
  await waitUntil(() => /\/stories\/\d+\?story=\d+/.test(page.url()));
  const before = page.url();
  const frame = page.locator(".player .frame");

  await touch.hold([300, 420], [180, 425]);
  await waitUntil(async () => (await frame.boundingBox()).x < -60);
  await screenshot(page, shots, "story-dragged");
  await touch.lift();
  await waitUntil(() => new URL(page.url()).pathname !== new URL(before).pathname);
  await waitUntil(async () => Math.abs((await frame.boundingBox()).x) < 1);
  const here = page.url();
  await page.reload();
  await player.getByRole("img").first().waitFor();
  await waitUntil(() => page.url() === here);
  assert.ok(
    names.some((name) => here.length > 0 && name !== ""),
    "a person is shown",
  );

  await touch.hold([195, 300], [195, 430]);
  await waitUntil(async () => (await frame.boundingBox()).y > 60);
  await touch.lift();
  await player.waitFor({ state: "detached" });
}

/** In a low window, as of a phone held sideways, the last link of the rail can be reached. */
async function scrollNavigation(page) {
  await page.setViewportSize({ width: 740, height: 360 });
  await page.goto(`${address}/`);
  const last = page.getByRole("navigation", { name: "Main" }).getByRole("link").last();
  await last.scrollIntoViewIfNeeded();
  const box = await last.boundingBox();
  assert.ok(box.y >= 0 && box.y + box.height <= 360, `the last link is at ${box.y}`);
  await page.setViewportSize(PHONE.viewport);
}

async function assertAccessible(page) {
  await page.evaluate(axe);
  const violations = await page.evaluate(async () =>
    (
      await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })
    ).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`),
  );
  assert.deepEqual(violations, []);
}
