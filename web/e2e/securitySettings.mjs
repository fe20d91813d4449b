// The security settings: passkey, authenticator app, sessions, API tokens, password.
// node e2e/securitySettings.mjs ADDRESS [SCREENSHOT_FOLDER]: the address has to be a name (localhost), for passkeys.

import assert from "node:assert/strict";
import { launch, openPage, screenshot } from "./support/browser.mjs";
import {
  addAuthenticator,
  reauthenticateIfAsked,
  reauthenticateWithCode,
  setUpTotp,
} from "./support/credentials.mjs";
import { join, PASSWORD, signIn } from "./support/users.mjs";

const [address, shots] = process.argv.slice(2);
const NEW_PASSWORD = "quite another password";
const name = `safe${Date.now() % 1e9}`;
const browser = await launch();
const consoleErrors = [];

try {
  const page = await openPage(browser, consoleErrors);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: address });
  await addAuthenticator(page);
  await join(page, address, name);
  await page.goto(`${address}/settings/security`);
  await addAndRemovePasskey(page);
  await addAndRemoveTotp(page);
  await endOtherSession(page);
  await page.goto(`${address}/settings/programs`);
  await createAndRevokeToken(page);
  await page.goto(`${address}/settings/account`);
  await changePassword(page);
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function addAndRemovePasskey(page) {
  await page.fill("[name=passkey]", "My desk");
  await page.getByRole("button", { name: "Create a passkey" }).click();
  const row = page.locator("li", { hasText: "My desk" });
  await reauthenticateIfAsked(page, row);
  await row.getByRole("button", { name: "Remove" }).click();
  await reauthenticateIfAsked(page, page.getByText("No passkeys yet."));
}

async function addAndRemoveTotp(page) {
  const codes = await setUpTotp(page);
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByText("10 recovery codes are left").waitFor();
  await screenshot(page, shots, "settings-security", { fullPage: true });
  await page.getByRole("button", { name: "New recovery codes" }).click();
  await reauthenticateWithCode(page, codes[0], page.getByRole("button", { name: "I have saved them" }));
  const renewed = await page.locator(".codes code").allTextContents();
  assert.ok(!renewed.some((code) => codes.includes(code)), "new codes are new");
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByRole("button", { name: "Turn it off" }).click();
  await reauthenticateIfAsked(page, page.getByRole("button", { name: "Set up" }));
}

// A session on another computer.
async function endOtherSession(page) {
  const { call } = await signIn(browser, address, name, { isNew: false });
  await call("GET", "/accounts/me");
  await page.reload();
  await page.locator("li", { hasText: "Last seen" }).getByRole("button", { name: "Log out" }).first().click();
  await page.getByText("Logged out there.").waitFor();
  await assert.rejects(call("GET", "/accounts/me"), /401/);
}

async function createAndRevokeToken(page) {
  await page.fill("[name=token]", "Backup at home");
  await page.getByRole("button", { name: "Create token" }).click();
  const shown = page.locator(".token code");
  await reauthenticateIfAsked(page, shown);
  const token = await shown.textContent();
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), token);
  await screenshot(page, shots, "settings-programs", { fullPage: true });
  const request = () =>
    fetch(`${address}/api/v1/accounts/me`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal((await request()).status, 200, "the token works");
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.reload();
  const row = page.locator("li", { hasText: "Backup at home" });
  await row.waitFor();
  assert.equal(await page.getByText(token).count(), 0, "it is shown once");
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Token revoked.").waitFor();
  assert.equal((await request()).status, 401);
}

async function changePassword(page) {
  const change = page.getByRole("button", { name: "Change password" });
  await page.fill("[name=current]", "surely not this");
  await page.fill("[name=new]", NEW_PASSWORD);
  await change.click();
  await page.getByRole("alert").first().waitFor();
  await page.fill("[name=current]", PASSWORD);
  await change.click();
  await page.getByText("Your password is changed.").waitFor();
  await assert.rejects(signIn(browser, address, name, { isNew: false }), /could not sign in/);
  await page.goto(`${address}/settings`);
  await page.getByRole("button", { name: "Log out" }).waitFor();
}
