// Two people at home: one comments in a post opened over the feed, the other answers; a story is seen, liked and
// answered. node e2e/evening.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { publish, seesAt } from "./kit.mjs";
import { PHONE, play, RUN } from "./stage.mjs";

const [address, photo, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;

await play(address, async (enter) => {
  const ana = await enter(ANA, { viewport: { width: 1280, height: 800 } });
  const bo = await enter(BO, PHONE);
  await publish(ana, photo, "Evening light");
  await bo.call("PUT", `/accounts/${ana.id}/follow`);

  await comments(bo);
  await answers(ana);
  await tellsStory(ana);
  await watchesStory(bo);
  await seesWhoWatched(ana);
});

async function comments(bo) {
  const { page } = bo;
  await seesAt(bo, `${address}/`, "Evening light");
  await canBeTouchedWhileMoving(page);
  await page.locator("article .when").first().click();
  await page.waitForURL(/\/p\//);
  await page.locator("dialog textarea").fill("Where is this?");
  await page.keyboard.press("Enter");
  await page.locator("dialog").getByText("Where is this?").waitFor();
  await page.goBack();
  await page.waitForURL(`${address}/`);
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.locator("article .when").first().click();
  await page.locator("dialog[data-page]").evaluate((dialog) => dialog.close()); // As a phone's own way back does.
  await page.waitForURL(`${address}/`);
  await page.locator("dialog").waitFor({ state: "detached" });
}

// A virtual list likes to be out of reach until it rests: then a quick finger, or any finger on a slow phone, taps in vain.
async function canBeTouchedWhileMoving(page) {
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

async function answers(ana) {
  const { page } = ana;
  await seesAt(ana, `${address}/`, "Evening light");
  await page.locator("article .when").first().click();
  await page.getByRole("button", { name: "Answer" }).first().click();
  await page.keyboard.type("The old pier");
  await page.keyboard.press("Enter");
  await page.locator("dialog").getByText(`@${BO} The old pier`).waitFor();
  await shoot(page, "comments");
  await page.reload(); // Now it is a page of its own.
  await page.getByRole("button", { name: "1 answer" }).click();
  await page.getByText("The old pier").waitFor();
}

async function tellsStory({ page }) {
  await page.goto(`${address}/stories/new`);
  await page.setInputFiles("input[type=file]", photo);
  await page.locator("textarea").first().fill("Right now");
  await page.locator("form button[type=submit]:enabled").click();
  await page.waitForURL(`${address}/`);
}

async function watchesStory(bo) {
  const { page } = bo;
  await page.goto(`${address}/@${ANA}`); // A page to come from: leaving the story twice must not lead there.
  await seesAt(bo, `${address}/`, `Story of ${ANA}, 1 new`);
  await page.getByRole("link", { name: `Story of ${ANA}, 1 new` }).click();
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
  await shoot(page, "story");
  await page.keyboard.press("Escape"); // In the field, Escape leaves the field.
  await page.waitForFunction(() => document.activeElement?.tagName !== "INPUT");
  assert.match(page.url(), /\/stories\//);
  await page.evaluate(() => {
    for (let times = 0; times < 2; times++)
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  });
  await page.getByRole("link", { name: `Story of ${ANA}, seen` }).waitFor();
  assert.equal(page.url(), `${address}/`, "leaving in a hurry goes back once");
}

async function seesWhoWatched(ana) {
  const { page } = ana;
  await page.goto(`${address}/`);
  await page.getByRole("link", { name: "Your story" }).click();
  await page.getByRole("button", { name: /Seen by 1 person/ }).click();
  await page.locator("dialog").getByText(BO).last().waitFor();
}

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
