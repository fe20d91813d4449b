// Deleting one's account: asked for with the password, out of everybody's sight at once, and taken back by logging in
// while there is time. node e2e/leaving.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import path from "node:path";
import { PASSWORD, publish, seesAt, until } from "./kit.mjs";
import { logIn, PHONE, play, RUN, WIDE } from "./stage.mjs";

const [address, photo, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const CAPTION = "One last photograph";
/** A wrong password is. */
const REFUSED = /\b40[13]\b/;

await play(address, flow, REFUSED);

async function flow(enter) {
  const ana = await enter(ANA, WIDE);
  const bo = await enter(`bo.${RUN}`, PHONE);
  const post = await publish(ana, photo, CAPTION);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  await seesAt(bo, `${address}/`, CAPTION);

  await leaves(ana);
  await isOutOfSight(bo, post);
  await comesBack(ana.page);
  await isThereAgain(bo);
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
  await logIn(page, address, ANA);
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
