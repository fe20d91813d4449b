// What every flow needs: a browser, people who join, and a console that stays quiet.

import assert from "node:assert/strict";
import { launch, PASSWORD, PATIENCE_MS, person } from "./kit.mjs";

export { launch as openBrowser, PASSWORD, PATIENCE_MS } from "./kit.mjs";

/** The end of names that are new every time, so that a flow can be played again on the same installation. */
export const RUN = Date.now().toString(36).slice(-5);
export const WIDE = { viewport: { width: 1280, height: 860 } };
export const PHONE = { viewport: { width: 390, height: 800 } };

/** Plays a flow in a browser of its own. Nobody's console says anything but what is expected. */
export async function play(address, flow, expected = null) {
  const browser = await launch();
  const troubles = [];
  try {
    await flow((username, options) => person(browser, address, username, { troubles, ...options }));
    const unexpected = troubles.filter((each) => !expected?.test(each));
    assert.deepEqual(unexpected, [], "the console stays quiet");
  } finally {
    await browser.close();
  }
}

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

export async function logIn(page, address, username) {
  await page.goto(`${address}/login`);
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
}
