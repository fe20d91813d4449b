// Two users: comment in a post opened over the feed, reply, view a story, react and reply to it.
// node e2e/commentsAndStories.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { PHONE, reloadUntilVisible, screenshot } from "./support/browser.mjs";
import { publish, RUN, runFlow } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;

await runFlow(address, async (enter) => {
  const ana = await enter(ANA, { viewport: { width: 1280, height: 800 } });
  const bo = await enter(BO, PHONE);
  await publish(ana, photo, "Evening light");
  await bo.call("PUT", `/accounts/${ana.id}/follow`);

  await comment(bo);
  await reply(ana);
  await createStory(ana);
  await viewStory(bo);
  await openViewers(ana);
});

async function comment(bo) {
  const { page } = bo;
  await reloadUntilVisible(bo, `${address}/`, "Evening light");
  await assertTappableWhileScrolling(page);
  await page.locator("article .when").first().click();
  await page.waitForURL(/\/p\//);
  await page.locator("dialog textarea").fill("Where is this?");
  await page.keyboard.press("Enter");
  await page.locator("dialog").getByText("Where is this?").waitFor();
  await page.goBack();
  await page.waitForURL(`${address}/`);
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.locator("article .when").first().click();
  await page.locator("dialog[data-page]").evaluate((dialog) => dialog.close()); // As a phone's back gesture does.
  await page.waitForURL(`${address}/`);
  await page.locator("dialog").waitFor({ state: "detached" });
}

// The virtualiser disables pointer events while the list scrolls, which would swallow taps.
async function assertTappableWhileScrolling(page) {
  const when = page.locator("article .when").first();
  await when.scrollIntoViewIfNeeded();
  const touched = await when.evaluate(async (link) => {
    const from = scrollY;
    scrollBy(0, from > 0 ? -24 : 24);
    await new Promise((done) =>
      addEventListener("scroll", () => requestAnimationFrame(done), { once: true }),
    );
    const { x, y, width, height } = link.getBoundingClientRect();
    const hit = document.elementFromPoint(x + width / 2, y + height / 2);
    return hit !== null && link.contains(hit) ? "the link" : String(hit?.outerHTML).slice(0, 80);
  });
  assert.equal(touched, "the link", "the feed can be touched while it moves");
}

async function reply(ana) {
  const { page } = ana;
  await reloadUntilVisible(ana, `${address}/`, "Evening light");
  await page.locator("article .when").first().click();
  await page.getByRole("button", { name: "Reply" }).first().click();
  await page.keyboard.type("The old pier");
  await page.keyboard.press("Enter");
  await page.locator("dialog").getByText(`@${BO} The old pier`).waitFor();
  await screenshot(page, shots, "comments");
  await page.reload(); // The overlay is a page now.
  await page.getByRole("button", { name: "1 reply" }).click();
  await page.getByText("The old pier").waitFor();
}

async function createStory({ page }) {
  await page.goto(`${address}/stories/new`);
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Text" }).click();
  await page.getByRole("textbox", { name: "Text" }).fill("Right now");
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator("button:enabled", { hasText: /^Share$/ }).click();
  await page.waitForURL(`${address}/`);
}

async function viewStory(bo) {
  const { page } = bo;
  await page.goto(`${address}/@${ANA}`); // A previous page: closing the story twice must not lead back to it.
  await reloadUntilVisible(bo, `${address}/`, `${ANA}’s story, 1 new`);
  await page.getByRole("link", { name: `${ANA}’s story, 1 new` }).click();
  await page.getByText("Right now").waitFor();
  await page.keyboard.press(" ");
  await page.getByRole("button", { name: "React with 🔥" }).click();
  await page.getByRole("button", { name: "React with 🔥", pressed: true }).waitFor();
  await page.locator(".player input").fill("So beautiful");
  const answered = page.waitForResponse(
    (answer) => answer.url().endsWith("/replies") && answer.status() === 201,
  );
  await page.keyboard.press("Enter");
  await answered;
  await screenshot(page, shots, "story");
  await page.keyboard.press("Escape"); // In the field, Escape only leaves the field.
  await page.waitForFunction(() => document.activeElement?.tagName !== "INPUT");
  assert.match(page.url(), /\/stories\//);
  await page.evaluate(() => {
    for (let times = 0; times < 2; times++)
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  });
  await page.getByRole("link", { name: `${ANA}’s story, seen` }).waitFor();
  assert.equal(page.url(), `${address}/`, "leaving in a hurry goes back once");
}

async function openViewers(ana) {
  const { page } = ana;
  await page.goto(`${address}/`);
  await page.getByRole("link", { name: "Your story" }).click();
  await page.getByRole("button", { name: /Seen by 1 person/ }).click();
  await page.locator("dialog").getByText(BO).last().waitFor();
}
