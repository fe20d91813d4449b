// Takes the picture of the README: the home feed of a demo user, on a phone beside a desktop, on a running installation with
// `tintype demo` in it.
// node e2e/readmeScreenshot.mjs ADDRESS USERNAME PASSWORD FILE.jpg [dark]

import { launch } from "./support/browser.mjs";

const [address, username, password, file, scheme = "light"] = process.argv.slice(2);
const DESKTOP = { viewport: { width: 1180, height: 860 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
/** Both on one sheet, the phone beside the desktop. */
const SHEET = { width: 1400, height: 790 };
const browser = await launch();

try {
  const [desktop, phone] = [await capture(DESKTOP), await capture(PHONE)];
  const sheet = await browser.newPage({ viewport: SHEET });
  await sheet.setContent(`<style>
    body { margin: 0; background: ${scheme === "dark" ? "#0b0a09" : "#d9d7d3"}; }
    img { position: absolute; box-shadow: 0 12px 36px #0005; }
    .desktop { top: 40px; left: 40px; width: 974px; }
    .phone { top: 40px; right: 40px; height: 694px; border: 8px solid #1c1917; border-radius: 28px; }
  </style><img class="desktop" src="${desktop}"><img class="phone" src="${phone}">`);
  await sheet.waitForFunction(() => [...document.images].every(({ complete }) => complete));
  await sheet.screenshot({ path: file, type: "jpeg", quality: 82 });
} finally {
  await browser.close();
}

/** The home page once every picture in the window is there, as a data URL. */
async function capture(options) {
  const page = await browser.newPage({
    locale: "en-GB",
    colorScheme: scheme,
    reducedMotion: "reduce",
    ...options,
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
  const shot = await page.screenshot({ type: "jpeg", quality: 92 });
  await page.close();
  return `data:image/jpeg;base64,${shot.toString("base64")}`;
}
