// Deleting one's account: asked for with the password, out of everybody's sight at once, and taken back by logging in
// while there is time. node e2e/leaving.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { launch, PASSWORD, person, publish, seesAt, until } from "./kit.mjs";

const [address, photo, shots] = process.argv.slice(2);
const run = Date.now().toString(36).slice(-5);
const ANA = `ana.${run}`;
const CAPTION = "One last photograph";
const browser = await launch();
const troubles = [];

try {
  const ana = await person(browser, address, ANA, { viewport: { width: 1280, height: 860 }, troubles });
  const bo = await person(browser, address, `bo.${run}`, { viewport: { width: 390, height: 800 }, troubles });
  const post = await publish(ana, photo, CAPTION);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  await seesAt(bo, `${address}/`, CAPTION);

  await leaves(ana);
  await isOutOfSight(bo, post);
  await comesBack(ana.page);
  await isThereAgain(bo);
  const unexpected = troubles.filter((each) => !/\b40[13]\b/.test(each)); // A wrong password is refused.
  assert.deepEqual(unexpected, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function leaves({ page, context }) {
  await page.goto(`${address}/settings/data`);
  await page.getByRole("button", { name: "Delete my account" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete your account?" });
  await dialog.locator("[name=password]").fill("not the password");
  await dialog.getByRole("button", { name: "Delete it" }).click();
  await dialog.getByRole("alert").waitFor();
  await shoot(page, "leaving");
  await dialog.locator("[name=password]").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Delete it" }).click();
  await page.getByText(/Everything is erased on/).waitFor();
  await page.getByRole("link", { name: "Create an account" }).waitFor();
  const me = await context.request.get(`${address}/api/v1/accounts/me`);
  assert.equal(me.status(), 401, "signed out on the server as well");
}

async function isOutOfSight({ page }, { code }) {
  await page.goto(`${address}/@${ANA}`);
  await page.getByRole("heading", { name: "Nobody goes by that name" }).waitFor();
  await page.goto(`${address}/p/${code}`);
  await page.getByRole("heading", { name: "This post is gone" }).waitFor();
  await page.goto(`${address}/`);
  await page.getByRole("heading", { name: "Nothing on the wall yet" }).waitFor();
}

async function comesBack(page) {
  await page.goto(`${address}/login`);
  await page.fill("[name=username]", ANA);
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
  await page.goto(`${address}/@${ANA}`);
  await page.getByRole("link", { name: CAPTION }).waitFor();
}

async function isThereAgain(bo) {
  await until(async () => {
    const answer = await bo.context.request.get(`${address}/api/v1/profiles/${ANA}`);
    return answer.ok();
  });
  await bo.page.goto(`${address}/@${ANA}`);
  await bo.page.getByRole("link", { name: CAPTION }).waitFor();
  await seesAt(bo, `${address}/`, CAPTION);
}

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
