// The first person on a fresh site lets invented people move in: progress is shown, and beside it their posts appear.
// node e2e/filling.mjs ADDRESS [FOLDER FOR SCREENSHOTS]: a site on which nobody has joined yet.

import assert from "node:assert/strict";
import path from "node:path";
import { join, openBrowser, openPage } from "./stage.mjs";

const [address, shots] = process.argv.slice(2);
const FIRST_PICTURE_MS = 120_000;
const browser = await openBrowser();
const troubles = [];

try {
  const page = await openPage(browser, troubles, { viewport: { width: 390, height: 800 } });
  await join(page, address, "first.here");
  await page.getByRole("button", { name: "Let them move in" }).click();
  const progress = page.getByRole("progressbar");
  await progress.waitFor();
  await shoot(page, "filling-begins");
  await page.getByRole("article").first().waitFor({ timeout: FIRST_PICTURE_MS });
  assert.ok(await progress.isVisible(), "it goes on to say how far it is");
  await page.reload();
  await page.getByRole("article").first().waitFor();
  await progress.waitFor(); // after a reload as well
  await page.waitForFunction(() => document.querySelectorAll("article").length > 1, null, {
    timeout: FIRST_PICTURE_MS,
  });
  await shoot(page, "filling");

  const other = await openPage(browser, troubles);
  await join(other, address, "second.here");
  await other.getByRole("heading", { name: "Nothing on the wall yet" }).waitFor();
  await other.waitForLoadState("networkidle");
  assert.equal(await other.getByRole("button", { name: "Let them move in" }).count(), 0);
  assert.deepEqual(troubles, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function shoot(page, title) {
  if (shots) await page.screenshot({ path: path.join(shots, `${title}.png`) });
}
