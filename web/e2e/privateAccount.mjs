// A private account: follow request, approval, unfollow, second request, decline.
// node e2e/privateAccount.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, PHONE, reloadUntilVisible, screenshot } from "./support/browser.mjs";
import { publish, RUN, runFlow } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;
const CAPTION = "Behind the garden wall";

await runFlow(address, async (enter) => {
  const ana = await enter(ANA, DESKTOP);
  const bo = await enter(BO, PHONE);
  await makePrivate(ana);
  const post = await publish(ana, photo, CAPTION);

  await requestFollow(bo);
  await assertHidden(bo, post);
  await approve(ana);
  await assertVisible(bo);
  await unfollow(bo);
  await requestFollow(bo);
  await decline(ana);
  await assertHidden(bo, post);
  assert.equal((await bo.call("GET", `/profiles/${ANA}`)).relation.viewer_has_requested, false);
});

async function makePrivate({ page, call }) {
  await page.goto(`${address}/settings/privacy`);
  const isSaved = page.waitForResponse((answer) => answer.request().method() === "PATCH" && answer.ok());
  await page.getByRole("switch", { name: /^Private account/ }).click();
  await isSaved;
  assert.equal((await call("GET", "/accounts/me")).is_private, true);
}

async function requestFollow({ page }) {
  await page.goto(`${address}/@${ANA}`);
  await page.getByRole("heading", { name: "This account is private" }).waitFor();
  const isAsked = page.waitForResponse((answer) => answer.url().endsWith("/follow") && answer.ok());
  await page.getByRole("button", { name: /^Follow/ }).click();
  await page.getByRole("button", { name: /^Requested/, pressed: true }).waitFor();
  await page.getByText(`You have asked to follow ${ANA}.`, { exact: false }).waitFor();
  await isAsked;
  await page.reload(); // The request is stored on the server, not in this tab.
  await page.getByRole("button", { name: /^Requested/, pressed: true }).waitFor();
  await screenshot(page, shots, "private-asked");
}

// Neither the permalink nor the feed shows the post.
async function assertHidden({ page }, { code }) {
  await page.goto(`${address}/p/${code}`);
  await page.getByRole("heading", { name: "This post is gone" }).waitFor();
  await page.goto(`${address}/`);
  await page.getByRole("heading", { name: "Your feed is empty" }).waitFor();
  await page.goto(`${address}/@${ANA}`);
  await page.getByRole("heading", { name: "This account is private" }).waitFor();
}

async function approve(ana) {
  await reloadUntilVisible(ana, `${address}/requests`, BO);
  await screenshot(ana.page, shots, "requests");
  await ana.page.getByRole("button", { name: `Let ${BO} follow you` }).click();
  await ana.page.getByText(`${BO} follows you now`).waitFor();
  await ana.page.getByRole("heading", { name: "Nobody is waiting" }).waitFor();
}

async function assertVisible(bo) {
  await reloadUntilVisible(bo, `${address}/`, CAPTION);
  const picture = bo.page.getByRole("article").first().getByRole("img", { name: CAPTION }).first();
  await picture.evaluate((img) => img.decode()); // Private images have URLs signed for their viewer.
  await bo.page.getByRole("article").first().getByRole("link", { name: ANA }).first().click();
  await bo.page.getByRole("button", { name: /^Following/, pressed: true }).waitFor();
  await bo.page.getByRole("link", { name: CAPTION }).waitFor();
}

async function unfollow({ page }) {
  await page.getByRole("button", { name: /^Following/, pressed: true }).click();
  const dialog = page.getByRole("dialog", { name: `Stop following ${ANA}?` });
  const isDone = page.waitForResponse((answer) => answer.url().endsWith("/follow") && answer.ok());
  await dialog.getByRole("button", { name: "Unfollow" }).click();
  await page.getByRole("button", { name: /^Follow/, pressed: false }).waitFor();
  await isDone;
  await page.goBack();
  await page.getByRole("heading", { name: "Your feed is empty" }).waitFor();
}

async function decline(ana) {
  await reloadUntilVisible(ana, `${address}/requests`, BO);
  await ana.page.getByRole("button", { name: `Decline the request from ${BO}` }).click();
  await ana.page.getByText(`The request from ${BO} is declined.`, { exact: false }).waitFor();
  await ana.page.getByRole("heading", { name: "Nobody is waiting" }).waitFor();
}
