// What every flow needs: a browser, people who join, and a console that stays quiet.

import { PASSWORD, PATIENCE_MS } from "./kit.mjs";

export { launch as openBrowser, PASSWORD, PATIENCE_MS } from "./kit.mjs";

/** A page of somebody's own; what it complains of is added to `troubles`. */
export async function openPage(browser, troubles, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1100, height: 860 },
    locale: "en-GB",
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("console", (message) => {
    // Refusals are answers, and some of them are what a flow is about.
    if (message.type() === "error" && !/\b(40[0-9]|422)\b/.test(message.text()))
      troubles.push(message.text());
  });
  return page;
}

export async function join(page, address, username, email = "") {
  await page.goto(`${address}/join`);
  await page.fill("[name=username]", username);
  await page.fill("[name=email]", email);
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
}
