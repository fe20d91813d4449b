// What protects an account, used and taken away again: passkey, authenticator app, sessions, tokens, password.
// node e2e/security.mjs ADDRESS [FOLDER FOR SCREENSHOTS]: the address has to be a name (localhost), as passkeys want one.

import assert from "node:assert/strict";
import path from "node:path";
import { addAuthenticator, proveIfAsked, setUpApp } from "./keys.mjs";
import { person } from "./kit.mjs";
import { join, openBrowser, openPage, PASSWORD } from "./stage.mjs";

const [address, shots] = process.argv.slice(2);
const NEW_PASSWORD = "quite another password";
const name = `safe${Date.now() % 1e9}`;
const browser = await openBrowser();
const troubles = [];

try {
  const page = await openPage(browser, troubles);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: address });
  await addAuthenticator(page);
  await join(page, address, name);
  await page.goto(`${address}/settings/security`);
  await passkeyComesAndGoes(page);
  await appComesAndGoes(page);
  await otherPlacesEnd(page);
  await page.goto(`${address}/settings/programs`);
  await tokenComesAndGoes(page);
  await page.goto(`${address}/settings/account`);
  await passwordChanges(page);
  assert.deepEqual(troubles, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function passkeyComesAndGoes(page) {
  await page.fill("[name=passkey]", "My desk");
  await page.getByRole("button", { name: "Make a passkey" }).click();
  const row = page.locator("li", { hasText: "My desk" });
  await proveIfAsked(page, row);
  await row.getByRole("button", { name: "Remove" }).click();
  await proveIfAsked(page, page.getByText("No passkeys yet."));
}

async function appComesAndGoes(page) {
  const codes = await setUpApp(page);
  await page.getByRole("button", { name: "I have kept them" }).click();
  await page.getByText("10 recovery codes are left").waitFor();
  await shoot(page, "settings-security");
  await page.getByRole("button", { name: "New recovery codes" }).click();
  await proveIfAsked(page, page.getByRole("button", { name: "I have kept them" }));
  const renewed = await page.locator(".codes code").allTextContents();
  assert.ok(!renewed.some((code) => codes.includes(code)), "new codes are new");
  await page.getByRole("button", { name: "I have kept them" }).click();
  await page.getByRole("button", { name: "Turn it off" }).click();
  await proveIfAsked(page, page.getByRole("button", { name: "Set up" }));
}

// Somebody else's computer, where one forgot to log out.
async function otherPlacesEnd(page) {
  const { call } = await person(browser, address, name, { isNew: false });
  await call("GET", "/accounts/me");
  await page.reload();
  await page.locator("li", { hasText: "Last seen" }).getByRole("button", { name: "Log out" }).first().click();
  await page.getByText("Logged out there.").waitFor();
  await assert.rejects(call("GET", "/accounts/me"), /401/);
}

async function tokenComesAndGoes(page) {
  await page.fill("[name=token]", "Backup at home");
  await page.getByRole("button", { name: "Make token" }).click();
  const shown = page.locator(".made code");
  await proveIfAsked(page, shown);
  const token = await shown.textContent();
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), token);
  await shoot(page, "settings-programs");
  const ask = () => fetch(`${address}/api/v1/accounts/me`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal((await ask()).status, 200, "it opens what it may");
  await page.getByRole("button", { name: "I have kept them" }).click();
  await page.reload();
  const row = page.locator("li", { hasText: "Backup at home" });
  await row.waitFor();
  assert.equal(await page.getByText(token).count(), 0, "it is shown once");
  await row.getByRole("button", { name: "End" }).click();
  await page.getByText("It opens nothing any more.").waitFor();
  assert.equal((await ask()).status, 401);
}

async function passwordChanges(page) {
  const change = page.getByRole("button", { name: "Change password" });
  await page.fill("[name=current]", "surely not this");
  await page.fill("[name=new]", NEW_PASSWORD);
  await change.click();
  await page.getByRole("alert").first().waitFor();
  await page.fill("[name=current]", PASSWORD);
  await change.click();
  await page.getByText("Your password is changed.").waitFor();
  await assert.rejects(person(browser, address, name, { isNew: false }), /could not sign in/);
  await page.goto(`${address}/settings`);
  await page.getByRole("button", { name: "Log out" }).waitFor();
}

async function shoot(page, title) {
  if (shots) await page.screenshot({ path: path.join(shots, `${title}.png`), fullPage: true });
}
