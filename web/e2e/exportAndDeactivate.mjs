// Data export, deactivation and reactivation.
// node e2e/exportAndDeactivate.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { launch, screenshot } from "./support/browser.mjs";
import { reauthenticateIfAsked } from "./support/credentials.mjs";
import { logIn, publish, signIn } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const name = `gone${Date.now() % 1e9}`;
const browser = await launch();
const consoleErrors = [];

try {
  const one = await signIn(browser, address, name, { consoleErrors });
  const other = await signIn(browser, address, `left${Date.now() % 1e9}`, { consoleErrors });
  await publish(one, photo, "To be taken along");
  await exportData(one.page);
  await deactivate(one.page, other.page);
  assert.deepEqual(
    consoleErrors.filter((each) => !/\b40[0-9]\b/.test(each)),
    [],
    "no console errors",
  );
} finally {
  await browser.close();
}

async function exportData(page) {
  await page.goto(`${address}/settings/data`);
  await page.getByText(/B of 21\.5 GB used/).waitFor();
  await page.getByRole("button", { name: "Create an archive" }).click();
  const button = page.getByRole("button", { name: "Download" });
  await reauthenticateIfAsked(page, button.or(page.getByText(/In progress/)));
  await button.waitFor();
  await screenshot(page, shots, "settings-data", { fullPage: true });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const content = await readFile(await download.path());
  assert.match(download.suggestedFilename(), /\.zip$/);
  assert.equal(content.readUInt32LE(0), 0x04034b50, "it begins as a zip does");
  assert.ok(content.includes(Buffer.from([0x50, 0x4b, 0x05, 0x06])), "it ends as a zip does");
  assert.match(content.toString("latin1"), /\.jpg/, "the picture is in it");
}

async function deactivate(page, other) {
  await page.getByRole("button", { name: "Hide my account" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Hide my account" }).click();
  await reauthenticateIfAsked(page, page.getByText("hidden until you log in again"));
  await page.getByRole("link", { name: "Create an account" }).waitFor();
  await other.goto(`${address}/@${name}`);
  await other.getByText("Nobody goes by that name").waitFor();
  await logIn(page, address, name);
  await other.reload();
  await other.getByRole("img", { name: "To be taken along" }).first().waitFor();
}
