// The ways in: an address confirmed by mail, a passkey, an authenticator app, a recovery code, a lost password, leaving.
// node e2e/entering.mjs ADDRESS FOLDER_OF_MAILS: the address has to be a name (localhost), as passkeys want one.

import assert from "node:assert/strict";
import { addAuthenticator, proveIfAsked, setUpApp } from "./keys.mjs";
import { mailed } from "./mailbox.mjs";
import { join, openBrowser, openPage, PASSWORD } from "./stage.mjs";

const [address, mails] = process.argv.slice(2);
const NEW_PASSWORD = "quite another password";
const name = `guest${Date.now() % 1e9}`;
const browser = await openBrowser();
const troubles = [];

try {
  const page = await openPage(browser, troubles);
  await addAuthenticator(page);
  await join(page, address, name, `${name}@example.org`);
  await page.goto(`${address}/confirm-email#${await mailed(mails, `${name}@example.org`, "confirm-email")}`);
  await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor();
  assert.equal(new URL(page.url()).hash, "", "the secret leaves the address bar");

  await page.goto(`${address}/settings/security`);
  await page.getByRole("button", { name: "Make a passkey" }).click();
  await proveIfAsked(page, page.getByText("You can log in with it from now on."));
  const codes = await setUpApp(page);
  assert.equal(codes.length, 10);

  await logOut(page);
  await page.getByRole("button", { name: "Log in with a passkey" }).click();
  await page.waitForURL(`${address}/`);

  await logOut(page);
  await logIn(page, PASSWORD);
  await page.getByRole("button", { name: "Use a recovery code" }).click();
  await page.fill("[name=code]", codes[0]);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${address}/`);

  await logOut(page);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  const send = page.getByRole("button", { name: "Send the link" });
  await send.waitFor(); // The page before has a field of the same name.
  await page.fill("[name=username]", name);
  await send.click();
  await page.getByText("Look into your mailbox").waitFor();
  await page.goto(
    `${address}/reset-password#${await mailed(mails, `${name}@example.org`, "reset-password")}`,
  );
  await page.fill("[name=password]", NEW_PASSWORD);
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.waitForURL(`${address}/login`);
  await page.getByRole("button", { name: "Log in with a passkey" }).click();
  await page.waitForURL(`${address}/`);

  await page.goto(`${address}/settings/data`);
  await page.getByRole("button", { name: "Delete my account" }).click();
  await page.fill("dialog [name=password]", NEW_PASSWORD);
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.getByText(/Everything is erased on/).waitFor();
  await page.getByRole("link", { name: "Create an account" }).waitFor();
  assert.deepEqual(troubles, [], "the console stays quiet");
} finally {
  await browser.close();
}

async function logOut(page) {
  await page.goto(`${address}/settings`);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("link", { name: "Create an account" }).waitFor();
  await page.goto(`${address}/login`);
}

async function logIn(page, password) {
  await page.fill("[name=username]", name);
  await page.fill("[name=password]", password);
  await page.click("button[type=submit]");
}
