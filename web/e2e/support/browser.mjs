// Browsers and pages of the browser tests, and waiting.

import path from "node:path";
import { chromium } from "playwright-core";

export const TIMEOUT_MS = 30_000;
export const DESKTOP = { viewport: { width: 1280, height: 860 } };
export const PHONE = { viewport: { width: 390, height: 800 } };

export function launch(...args) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
      "--enable-unsafe-swiftshader",
      ...args,
    ],
  });
}

/** A page in its own browser context; errors on its console are added to `consoleErrors`. */
export async function openPage(browser, consoleErrors, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1100, height: 860 },
    locale: "en-GB",
    ...options,
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  // Error responses are logged by the browser; some flows provoke them.
  recordErrors(page, consoleErrors, { ignored: /\b(40[0-9]|422)\b/ });
  return page;
}

export function recordErrors(page, consoleErrors, { ignored, prefix = "" }) {
  page.on("pageerror", (error) => consoleErrors.push(`${prefix}${error}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !ignored.test(message.text()))
      consoleErrors.push(`${prefix}${message.text()}`);
  });
}

/** Polls until the condition holds: background jobs take effect a moment later. */
export async function waitUntil(condition, timeout_ms = TIMEOUT_MS) {
  const deadline = Date.now() + timeout_ms;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Timed out waiting for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Opens the URL again and again until it shows the text. */
export async function reloadUntilVisible({ page }, url, text) {
  await waitUntil(async () => {
    await page.goto(url);
    return page
      .getByText(text)
      .first()
      .waitFor({ timeout: 2_000 })
      .then(
        () => true,
        () => false,
      );
  });
}

/** Saves a screenshot if a folder was given on the command line. */
export async function screenshot(page, folder, name, options = {}) {
  if (folder) await page.screenshot({ path: path.join(folder, `${name}.png`), ...options });
}
