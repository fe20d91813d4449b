// A newcomer's empty home offers people and ways on; following somebody there fills it. Moderation is no page for them.
// A guest who opens a shared link sees the whole picture, and the invitation below it.
// node e2e/newcomers.mjs ADDRESS PHOTO [FOLDER for pictures]; exits with 1 and says what did not happen.

import assert from "node:assert/strict";
import { DESKTOP, launch, openPage, PHONE, screenshot } from "./support/browser.mjs";
import { publish, RUN, signIn } from "./support/users.mjs";

const [address, photo, folder] = process.argv.slice(2);
const browser = await launch();
const consoleErrors = [];
try {
  const ana = await signIn(browser, address, `ana.${RUN}`);
  const { code } = await publish(ana, photo, "A harbour at dawn");

  const bo = await signIn(browser, address, `bo.${RUN}`);
  await bo.page.goto(`${address}/`);
  const people = bo.page.getByRole("region", { name: "People to follow" });
  const follow = people.getByRole("button", { name: `Follow @ana.${RUN}` });
  await follow.waitFor();
  await bo.page.locator("main a[href='/explore']").waitFor();
  await bo.page.locator("main a[href='/settings/profile']").waitFor();
  if (folder) await screenshot(bo.page, folder, "empty-home");
  const isStored = bo.page.waitForResponse((response) => response.url().endsWith("/follow"));
  await follow.click();
  await people.getByRole("button", { name: /Following|Unfollow/ }).waitFor();
  await isStored; // Shown at once, before the server has it.
  await bo.page.reload();
  await bo.page.getByRole("img", { name: "A harbour at dawn" }).first().waitFor();

  await bo.page.goto(`${address}/moderation`);
  await bo.page.getByRole("heading", { name: "Page not found" }).waitFor();
  await bo.page.locator("main a[href='/']").waitFor();
  if (folder) await screenshot(bo.page, folder, "moderation-not-found");

  for (const [name, options] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const guest = await openPage(browser, consoleErrors, options);
    await guest.goto(`${address}/p/${code}`);
    const picture = guest.getByRole("img", { name: "A harbour at dawn" }).first();
    await picture.waitFor();
    const invitation = guest.locator("aside").filter({ has: guest.locator("a[href^='/join']") });
    await invitation.waitFor();
    const [shown, asked] = [await picture.boundingBox(), await invitation.boundingBox()];
    assert.ok(shown.y + shown.height <= asked.y, `${name}: the invitation stands below the picture`);
    assert.ok(shown.y < options.viewport.height / 3, `${name}: the picture comes first`);
    if (folder) await screenshot(guest, folder, `guest-${name}`);
    await guest.goto(`${address}/p/${code}/embed`);
    await guest.getByRole("link", { name: "View on Tintype" }).waitFor();
    if (folder) await screenshot(guest, folder, `embed-${name}`);
  }
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}
