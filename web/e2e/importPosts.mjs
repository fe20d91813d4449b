// A member imports an archive on a desktop, with a broken connection in between, reads the report, and finds the posts on their profile.
// On a phone, in Arabic: an upload that a reload interrupted continues with the same file; an import is cancelled. No axe violations.
// node e2e/importPosts.mjs ADDRESS ARCHIVE OTHER_ARCHIVE [FOLDER for pictures]; exits with 1 and says what did not happen.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { DESKTOP, launch, PHONE, screenshot } from "./support/browser.mjs";
import { RUN, signIn } from "./support/users.mjs";

const [address, archive, other, folder] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const BYTES = /\/archives\/\d+$/;
const browser = await launch();

try {
  const ana = await signIn(browser, address, `ana.${RUN}`, DESKTOP);
  await importOnDesktop(ana.page);
  await ana.page.goto(`${address}/@${ana.username}`);
  await ana.page.locator("main a[href^='/p/']").nth(3).waitFor();

  const bo = await signIn(browser, address, `bo.${RUN}`, { ...PHONE, locale: "ar" });
  await continueOnPhone(bo.page);
  await cancelOnPhone(bo.page);
} finally {
  await browser.close();
}

async function importOnDesktop(page) {
  await page.goto(`${address}/settings/import`);
  await page.getByRole("radio", { name: "Instagram" }).waitFor();
  assert.ok(
    await page.getByRole("button", { name: "Import", exact: true }).isDisabled(),
    "no file, no import",
  );
  await page.setInputFiles("input[type=file]", archive);
  await page.getByText("one.zip").waitFor();
  await check(page, "form");
  await screenshot(page, folder, "import-form");

  let isBroken = true;
  await page.route(BYTES, (route) => {
    const fails = isBroken && route.request().method() === "PATCH";
    return fails ? route.abort("connectionreset") : route.continue();
  });
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByText(/^Connection lost at/).waitFor();
  await check(page, "without a connection");
  await screenshot(page, folder, "import-offline");
  isBroken = false;
  await page.getByText("4 posts imported. 1 item left out.").waitFor();
  await page.getByRole("button", { name: /^Report: Instagram/ }).click();
  await page.getByText("media/posts/stray.jpg").waitFor();
  await page.getByText("Left out: No post in the archive refers to it.").waitFor();
  await check(page, "report");
  await screenshot(page, folder, "import-report", { fullPage: true });
}

/** Bytes are held back, the page is loaded again, and the same file continues. */
async function continueOnPhone(page) {
  await page.goto(`${address}/settings/import`);
  await page.getByRole("radio", { name: "إنستغرام" }).waitFor();
  await page.setInputFiles("input[type=file]", archive);
  await page.route(BYTES, (route) => (route.request().method() === "PATCH" ? undefined : route.continue()));
  await page.getByRole("button", { name: "استيراد", exact: true }).click();
  await page.getByText(/^جارٍ الرفع/).waitFor();
  await page.reload();
  await page.unrouteAll({ behavior: "ignoreErrors" }); // only now: it lets go of the bytes that are held back
  await page.getByText(/^انقطع الرفع/).waitFor();
  await check(page, "interrupted, Arabic");
  await screenshot(page, folder, "import-interrupted-phone");
  await page.setInputFiles("input[type=file]", archive);
  await page.getByRole("button", { name: "استئناف", exact: true }).click();
  await page.getByText(/استُوردت .* منشورات/).waitFor();
  await page.getByRole("button", { name: /^التقرير/ }).click();
  await page.getByText("مستثنى: لا يذكره أي منشور في الأرشيف.").waitFor();
  await check(page, "report, Arabic");
  await screenshot(page, folder, "import-report-phone", { fullPage: true });
}

async function cancelOnPhone(page) {
  await page.setInputFiles("input[type=file]", other);
  await page.route(BYTES, (route) => (route.request().method() === "PATCH" ? undefined : route.continue()));
  await page.getByRole("button", { name: "استيراد", exact: true }).click();
  await page.getByRole("button", { name: "إلغاء الاستيراد" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "إلغاء الاستيراد" }).click();
  await page.getByText(/^أُلغي/).waitFor();
  await page.getByRole("radio", { name: "إنستغرام" }).waitFor();
  await page.unrouteAll({ behavior: "ignoreErrors" });
}

async function check(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(
    (tags) => globalThis.axe.run(document, { runOnly: { type: "tag", values: tags } }),
    TAGS,
  );
  const found = violations.map(
    ({ id, nodes }) => `${name}: ${id} ${nodes.map(({ html }) => html).join(" ")}`,
  );
  assert.deepEqual(found, []);
}
