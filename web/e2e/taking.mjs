// Taking one's things along, a pause and the way back.
// node e2e/taking.mjs ADDRESS PHOTO [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { proveIfAsked } from "./keys.mjs";
import { person, publish } from "./kit.mjs";
import { logIn, openBrowser } from "./stage.mjs";

const [address, photo, shots] = process.argv.slice(2);
const name = `gone${Date.now() % 1e9}`;
const browser = await openBrowser();
const troubles = [];

try {
  const one = await person(browser, address, name, { troubles });
  const other = await person(browser, address, `left${Date.now() % 1e9}`, { troubles });
  await publish(one, photo, "To be taken along");
  await takeAlong(one.page);
  await rest(one.page, other.page);
  assert.deepEqual(
    troubles.filter((each) => !/\b40[0-9]\b/.test(each)),
    [],
    "the console stays quiet",
  );
} finally {
  await browser.close();
}

async function takeAlong(page) {
  await page.goto(`${address}/settings/data`);
  await page.getByRole("button", { name: "Make an archive" }).click();
  const link = page.getByRole("link", { name: "Download" });
  await proveIfAsked(page, link.or(page.getByText(/Being made/)));
  await link.waitFor();
  await shoot(page, "settings-data");
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  const content = await readFile(await download.path());
  assert.match(download.suggestedFilename(), /\.zip$/);
  assert.equal(content.readUInt32LE(0), 0x04034b50, "it begins as a zip does");
  assert.ok(content.includes(Buffer.from([0x50, 0x4b, 0x05, 0x06])), "it ends as a zip does");
  assert.match(content.toString("latin1"), /\.jpg/, "the picture is in it");
}

async function rest(page, other) {
  await page.getByRole("button", { name: "Hide my account" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Hide my account" }).click();
  await proveIfAsked(page, page.getByText("hidden until you log in again"));
  await page.getByRole("link", { name: "Create an account" }).waitFor();
  await other.goto(`${address}/@${name}`);
  await other.getByText("Nobody goes by that name").waitFor();
  await logIn(page, address, name);
  await other.reload();
  await other.getByRole("img", { name: "To be taken along" }).first().waitFor();
}

async function shoot(page, title) {
  if (shots) await page.screenshot({ path: path.join(shots, `${title}.png`), fullPage: true });
}
