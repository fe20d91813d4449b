// The README's picture: the home feed of a demo person on a running installation with `tintype demo` in it.
// node e2e/picture.mjs ADDRESS USERNAME PASSWORD FILE.jpg

import { chromium } from "playwright-core";

const [address, username, password, file] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-background-networking", "--no-first-run"],
});

try {
  const page = await browser.newPage({ viewport: { width: 1180, height: 860 }, locale: "en-GB" });
  await page.goto(`${address}/login`);
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", password);
  await page.click("button[type=submit]");
  await page.waitForSelector("article img");
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: file, type: "jpeg", quality: 82 });
} finally {
  await browser.close();
}
