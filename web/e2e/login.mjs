// Logging in: confirmed email, passkey, authenticator app, recovery code, password reset; account deletion.
// node e2e/login.mjs ADDRESS MAIL_FOLDER: the address has to be a name (localhost), for passkeys.

import assert from "node:assert/strict";
import { launch, openPage } from "./support/browser.mjs";
import {
  addAuthenticator,
  reauthenticateIfAsked,
  reauthenticateWithCode,
  setUpTotp,
} from "./support/credentials.mjs";
import { waitForMailSecret } from "./support/mailbox.mjs";
import { join, PASSWORD } from "./support/users.mjs";

const [address, mails] = process.argv.slice(2);
const NEW_PASSWORD = "quite another password";
const name = `guest${Date.now() % 1e9}`;
const browser = await launch();
const consoleErrors = [];

try {
  const page = await openPage(browser, consoleErrors);
  await addAuthenticator(page);
  await join(page, address, name, `${name}@example.org`);
  await page.goto(
    `${address}/confirm-email#${await waitForMailSecret(mails, `${name}@example.org`, "confirm-email")}`,
  );
  await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor();
  assert.equal(new URL(page.url()).hash, "", "the secret is removed from the address bar");

  await page.goto(`${address}/settings/security`);
  await page.getByRole("button", { name: "Create a passkey" }).click();
  await reauthenticateIfAsked(page, page.getByText("You can log in with it from now on."));
  const codes = await setUpTotp(page);
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
  await send.waitFor(); // The previous page has a field of the same name.
  await page.fill("[name=username]", name);
  await send.click();
  await page.getByText("Check your inbox").waitFor();
  await page.goto(
    `${address}/reset-password#${await waitForMailSecret(mails, `${name}@example.org`, "reset-password")}`,
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
  await reauthenticateWithCode(page, codes[1], page.getByText(/Everything is erased on/));
  await page.getByRole("link", { name: "Create an account" }).waitFor();
  assert.deepEqual(consoleErrors, [], "no console errors");
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
