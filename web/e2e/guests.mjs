// A visitor without an account opens links to a post and a profile. Where guests may read they see them and a banner to join;
// otherwise they are sent to the login. Either way they end up on the page they came for.
// node e2e/guests.mjs ADDRESS PHOTO open|closed; exits with 1 and says what did not happen.

import assert from "node:assert/strict";
import { launch, openPage } from "./support/browser.mjs";
import { PASSWORD, publish, signIn } from "./support/users.mjs";

const [address, photo, state] = process.argv.slice(2);
const isOpen = state === "open";
const browser = await launch();
const consoleErrors = [];
try {
  const run = Date.now().toString(36);
  const ana = await signIn(browser, address, `ana.${run}`);
  const { code } = await publish(ana, photo, "A harbour at dawn");
  await ana.call("POST", `/posts/${code}/comments`, { text: "Cold hands that day." });
  const post = `/p/${code}`;
  const profile = `/@${ana.username}`;

  const guest = await openPage(browser, consoleErrors, { viewport: { width: 390, height: 800 } });
  if (isOpen) await readAsGuest(guest, post, profile);
  else await assertSentToLogin(guest, profile);

  await guest.goto(address + post);
  if (isOpen) await guest.locator("button[aria-pressed=false]").first().click();
  await guest.waitForURL(`${address}/login?next=${encodeURIComponent(post)}`);
  await guest
    .locator(`a[href="/join?next=${encodeURIComponent(post)}"]`)
    .first()
    .click(); // No account yet: on to joining.
  await guest.locator("[name=full_name]").waitFor(); // Until then the login's fields, of the same names, are shown.
  await guest.fill("[name=username]", `bo.${run}`);
  await guest.fill("[name=password]", PASSWORD);
  await guest.click("button[type=submit]");
  await guest.waitForURL(`${address}/welcome?next=${encodeURIComponent(post)}`);
  await guest.getByRole("button", { name: "Skip for now" }).click();
  await guest.waitForURL(address + post);
  await guest.getByRole("img", { name: "A harbour at dawn" }).waitFor();
  await guest.locator("form textarea").waitFor();
  assert.equal(await guest.locator("aside").count(), 0, "members are not invited");
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function readAsGuest(page, post, profile) {
  await page.goto(address + post);
  await page.getByRole("img", { name: "A harbour at dawn" }).waitFor();
  await page.getByText("Cold hands that day.").waitFor();
  await page.locator("aside a[href^='/join']").waitFor();
  assert.equal(await page.locator("form textarea").count(), 0, "guests cannot write");
  await page.goto(address + profile);
  await page.locator(`a[href="${post}"]`).waitFor();
  await page.locator("aside a[href^='/login?next=']").waitFor();
}

async function assertSentToLogin(page, profile) {
  await page.goto(address + profile);
  await page.waitForURL(`${address}/login?next=${encodeURIComponent(profile)}`);
  await page.goto(`${address}/`);
  await page.locator("a[href='/join']").waitFor();
}
