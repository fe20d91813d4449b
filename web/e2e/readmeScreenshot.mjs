// Takes the screenshot of the README: the home feed of a demo user on a running installation with `tintype demo` in it.
// node e2e/readmeScreenshot.mjs ADDRESS USERNAME PASSWORD FILE.jpg [dark]

import { launch } from "./support/browser.mjs";

const [address, username, password, file, scheme = "light"] = process.argv.slice(2);
const browser = await launch();

try {
  const page = await browser.newPage({
    viewport: { width: 1180, height: 860 },
    locale: "en-GB",
    colorScheme: scheme,
  });
  await page.goto(`${address}/login`);
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", password);
  await page.click("button[type=submit]");
  await page.waitForSelector("article img");
  await page.waitForLoadState("networkidle");
  await page.waitForFunction(() =>
    [...document.images]
      .filter((image) => image.getBoundingClientRect().top < innerHeight)
      .every((image) => image.complete && image.naturalWidth > 0),
  );
  await page.waitForTimeout(1_000); // Pictures fade in.
  await page.screenshot({ path: file, type: "jpeg", quality: 82 });
} finally {
  await browser.close();
}
