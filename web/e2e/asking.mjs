// A private account: somebody asks to follow, waits, is let in and sees everything; leaves, asks again, and is declined.
// node e2e/asking.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { publish, seesAt } from "./kit.mjs";
import { PHONE, play, RUN, WIDE } from "./stage.mjs";

const [address, photo, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;
const CAPTION = "Behind the garden wall";

await play(address, async (enter) => {
  const ana = await enter(ANA, WIDE);
  const bo = await enter(BO, PHONE);
  await hides(ana);
  const post = await publish(ana, photo, CAPTION);

  await asks(bo);
  await isKeptOut(bo, post);
  await letsIn(ana);
  await isIn(bo);
  await leaves(bo);
  await asks(bo);
  await declines(ana);
  await isKeptOut(bo, post);
  assert.equal((await bo.call("GET", `/profiles/${ANA}`)).relationship.viewer_has_requested, false);
});

async function hides({ page, call }) {
  await page.goto(`${address}/settings/privacy`);
  const isSaved = page.waitForResponse((answer) => answer.request().method() === "PATCH" && answer.ok());
  await page.getByRole("switch", { name: /^Private account/ }).click();
  await isSaved;
  assert.equal((await call("GET", "/accounts/me")).is_private, true);
}

async function asks({ page }) {
  await page.goto(`${address}/@${ANA}`);
  await page.getByRole("heading", { name: "This account is private" }).waitFor();
  const isAsked = page.waitForResponse((answer) => answer.url().endsWith("/follow") && answer.ok());
  await page.getByRole("button", { name: /^Follow/ }).click();
  await page.getByRole("button", { name: /^Requested/, pressed: true }).waitFor();
  await page.getByText(`You have asked to follow ${ANA}.`, { exact: false }).waitFor();
  await isAsked;
  await page.reload(); // It waits on the server, not in this tab.
  await page.getByRole("button", { name: /^Requested/, pressed: true }).waitFor();
  await shoot(page, "private-asked");
}

// Neither the post's own address nor the feed gives anything away.
async function isKeptOut({ page }, { code }) {
  await page.goto(`${address}/p/${code}`);
  await page.getByRole("heading", { name: "This post is gone" }).waitFor();
  await page.goto(`${address}/`);
  await page.getByRole("heading", { name: "Nothing on the wall yet" }).waitFor();
  await page.goto(`${address}/@${ANA}`);
  await page.getByRole("heading", { name: "This account is private" }).waitFor();
}

async function letsIn(ana) {
  await seesAt(ana, `${address}/requests`, BO);
  await shoot(ana.page, "requests");
  await ana.page.getByRole("button", { name: `Let ${BO} follow you` }).click();
  await ana.page.getByText(`${BO} follows you now`).waitFor();
  await ana.page.getByRole("heading", { name: "Nobody is waiting" }).waitFor();
}

async function isIn(bo) {
  await seesAt(bo, `${address}/`, CAPTION);
  const picture = bo.page.getByRole("article").first().getByRole("img", { name: CAPTION }).first();
  await picture.evaluate((img) => img.decode()); // A private picture has an address that is signed for its viewer.
  await bo.page.getByRole("article").first().getByRole("link", { name: ANA }).first().click();
  await bo.page.getByRole("button", { name: /^Following/, pressed: true }).waitFor();
  await bo.page.getByRole("link", { name: CAPTION }).waitFor();
}

async function leaves({ page }) {
  await page.getByRole("button", { name: /^Following/, pressed: true }).click();
  const dialog = page.getByRole("dialog", { name: `Stop following ${ANA}?` });
  const isDone = page.waitForResponse((answer) => answer.url().endsWith("/follow") && answer.ok());
  await dialog.getByRole("button", { name: "Unfollow" }).click();
  await page.getByRole("button", { name: /^Follow/, pressed: false }).waitFor();
  await isDone;
  await page.goBack();
  await page.getByRole("heading", { name: "Nothing on the wall yet" }).waitFor();
}

async function declines(ana) {
  await seesAt(ana, `${address}/requests`, BO);
  await ana.page.getByRole("button", { name: `Decline the request of ${BO}` }).click();
  await ana.page.getByText(`The request of ${BO} is declined.`, { exact: false }).waitFor();
  await ana.page.getByRole("heading", { name: "Nobody is waiting" }).waitFor();
}

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
