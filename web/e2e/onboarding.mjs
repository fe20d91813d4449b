// The first user of a new site creates demo content: progress is shown, and posts appear beside it.
// node e2e/onboarding.mjs ADDRESS [SCREENSHOT_FOLDER]: a site on which nobody has joined yet.

import assert from "node:assert/strict";
import { launch, openPage, screenshot } from "./support/browser.mjs";
import { join } from "./support/users.mjs";

const [address, shots] = process.argv.slice(2);
const FIRST_PICTURE_MS = 120_000;
const browser = await launch();
const consoleErrors = [];

try {
  const page = await openPage(browser, consoleErrors, { viewport: { width: 390, height: 800 } });
  await join(page, address, "first.here");
  await page.getByRole("button", { name: "Add demo people" }).click();
  const progress = page.getByRole("progressbar");
  await progress.waitFor();
  await screenshot(page, shots, "filling-begins");
  await page.getByRole("article").first().waitFor({ timeout: FIRST_PICTURE_MS });
  assert.ok(await progress.isVisible(), "it goes on to say how far it is");
  await page.reload();
  await page.getByRole("article").first().waitFor();
  await progress.waitFor(); // after a reload as well
  await page.waitForFunction(() => document.querySelectorAll("article").length > 1, null, {
    timeout: FIRST_PICTURE_MS,
  });
  await screenshot(page, shots, "filling");

  const other = await openPage(browser, consoleErrors);
  await join(other, address, "second.here");
  await other.getByRole("heading", { name: "Your feed is empty" }).waitFor();
  await other.waitForLoadState("networkidle");
  assert.equal(await other.getByRole("button", { name: "Add demo people" }).count(), 0);
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}
