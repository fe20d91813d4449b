// Deleting an account: needs the password, hides everything at once, and is cancelled by logging in during the grace period.
// node e2e/accountDeletion.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, PHONE, reloadUntilVisible, screenshot, waitUntil } from "./support/browser.mjs";
import { logIn, PASSWORD, publish, RUN, runFlow } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const CAPTION = "One last photograph";
/** Expected on the console: the wrong password is refused. */
const REFUSED = /\b40[13]\b/;

await runFlow(address, flow, REFUSED);

async function flow(enter) {
  const ana = await enter(ANA, DESKTOP);
  const bo = await enter(`bo.${RUN}`, PHONE);
  const post = await publish(ana, photo, CAPTION);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  await reloadUntilVisible(bo, `${address}/`, CAPTION);

  await deleteAccount(ana);
  await assertHidden(bo, post);
  await cancelByLoggingIn(ana.page);
  await assertVisibleAgain(bo);
}

async function deleteAccount({ page, context }) {
  await page.goto(`${address}/settings/data`);
  await page.getByRole("button", { name: "Delete my account" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete your account?" });
  await dialog.locator("[name=password]").fill("not the password");
  await dialog.getByRole("button", { name: "Delete it" }).click();
  await dialog.getByRole("alert").waitFor();
  await screenshot(page, shots, "leaving");
  await dialog.locator("[name=password]").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Delete it" }).click();
  await page.getByText(/Everything is erased on/).waitFor();
  await page.getByRole("link", { name: "Create an account" }).waitFor();
  const me = await context.request.get(`${address}/api/v1/accounts/me`);
  assert.equal(me.status(), 401, "signed out on the server as well");
}

async function assertHidden({ page }, { code }) {
  await page.goto(`${address}/@${ANA}`);
  await page.getByRole("heading", { name: "Nobody goes by that name" }).waitFor();
  await page.goto(`${address}/p/${code}`);
  await page.getByRole("heading", { name: "This post is gone" }).waitFor();
  await page.goto(`${address}/`);
  await page.getByRole("heading", { name: "Your feed is empty" }).waitFor();
}

async function cancelByLoggingIn(page) {
  await logIn(page, address, ANA);
  await page.goto(`${address}/@${ANA}`);
  await page.getByRole("link", { name: CAPTION }).waitFor();
}

async function assertVisibleAgain(bo) {
  await waitUntil(async () => {
    const answer = await bo.context.request.get(`${address}/api/v1/profiles/${ANA}`);
    return answer.ok();
  });
  await bo.page.goto(`${address}/@${ANA}`);
  await bo.page.getByRole("link", { name: CAPTION }).waitFor();
  await reloadUntilVisible(bo, `${address}/`, CAPTION);
}
