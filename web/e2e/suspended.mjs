// A suspended account: logs in to a page of its own, appeals, exports its data, and is back when the suspension is lifted.
// Whoever is blocked blocks back by name. node e2e/suspended.mjs ADDRESS PHOTO MODERATOR [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, PHONE, screenshot } from "./support/browser.mjs";
import { PASSWORD, RUN, runFlow } from "./support/users.mjs";

const [address, , moderator, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;
/** Expected on the console: the rest of the app is closed to a suspended account. */
const CLOSED = /\b40[13]\b/;

await runFlow(
  address,
  async (enter) => {
    const ana = await enter(ANA, PHONE);
    const bo = await enter(BO, DESKTOP);
    const mo = await enter(moderator, { ...DESKTOP, isNew: false });
    await blockBack(ana, bo);
    const caseId = await suspend(mo, ana);
    await logInAndAppeal(ana.page);
    await exportData(ana.page);
    await mo.call("POST", `/moderation/cases/${caseId}/acts`, {
      action: "unsuspend",
      reason: "Looked at again.",
    });
    await ana.page.goto(`${address}/@${ANA}`);
    await ana.page.getByRole("heading", { name: ANA }).first().waitFor();
  },
  CLOSED,
);

async function blockBack(ana, bo) {
  await ana.call("PUT", `/blocks/${bo.id}`);
  await bo.page.goto(`${address}/settings/privacy`);
  await bo.page.getByLabel("Blocked", { exact: true }).check();
  await bo.page.fill("[name=block]", `@${ANA}`);
  await bo.page.getByRole("button", { name: "Block", exact: true }).click();
  await bo.page.getByRole("link", { name: new RegExp(ANA) }).waitFor();
}

async function suspend(mo, ana) {
  const made = await mo.call("POST", "/moderation/cases", {
    kind: "account",
    object_id: ana.id,
    reason: "Seen.",
  });
  await mo.call("POST", `/moderation/cases/${made.case_id}/acts`, { action: "suspend", reason: "Spam." });
  return made.case_id;
}

async function logInAndAppeal(page) {
  await page.goto(`${address}/login`);
  await page.fill("[name=username]", ANA);
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.getByRole("heading", { name: "Your account is suspended" }).waitFor();
  assert.equal(await page.getByRole("navigation").count(), 0, "there is nothing to navigate to");
  await page.reload();
  await page.getByRole("button", { name: "Appeal" }).click();
  await page.getByLabel("Why should it be looked at again?").fill("It was art.");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("It was art.").waitFor();
  await screenshot(page, shots, "suspended", { fullPage: true });
}

async function exportData(page) {
  await page.getByRole("button", { name: "Create an archive" }).click();
  const button = page.getByRole("button", { name: "Download" });
  await button.waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  assert.match(download.suggestedFilename(), /\.zip$/);
}
