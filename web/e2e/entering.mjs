// The ways in: an address confirmed by mail, a passkey, an authenticator app, a recovery code, a lost password, leaving.
// node e2e/entering.mjs ADDRESS FOLDER_OF_MAILS: the address has to be a name (localhost), as passkeys want one.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { join, openBrowser, openPage, PASSWORD, PATIENCE_MS } from "./stage.mjs";

const [address, mails] = process.argv.slice(2);
const NEW_PASSWORD = "quite another password";
const name = `guest${Date.now() % 1e9}`;
const browser = await openBrowser();
const troubles = [];

try {
  const page = await openPage(browser, troubles);
  await addAuthenticator(page);
  await join(page, address, name, `${name}@example.org`);
  await page.goto(`${address}/confirm-email#${await mailed("confirm-email")}`);
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
  await page.fill("[name=username]", name);
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText("Look into your mailbox").waitFor();
  await page.goto(`${address}/reset-password#${await mailed("reset-password")}`);
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

async function addAuthenticator(page) {
  const tools = await page.context().newCDPSession(page);
  await tools.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  };
  await tools.send("WebAuthn.addVirtualAuthenticator", { options });
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

// Soon after joining nothing has to be proven again; later it has.
async function proveIfAsked(page, expected) {
  const dialog = page.getByRole("dialog", { name: "Is it you?" });
  await dialog.or(expected).first().waitFor();
  if (!(await dialog.isVisible())) return;
  await dialog.locator("[name=password]").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await expected.first().waitFor();
}

async function setUpApp(page) {
  await page.getByRole("button", { name: "Set up" }).click();
  const picture = page.getByRole("img", { name: "Code to scan with an authenticator app" });
  await proveIfAsked(page, picture);
  const secret = await page.locator("section code").first().textContent();
  await page.fill("[name=code]", codeOf(secret.replaceAll(" ", "")));
  await page.getByRole("button", { name: "Turn it on" }).click();
  await page.getByRole("button", { name: "I have kept them" }).waitFor();
  return page.locator(".codes code").allTextContents();
}

// RFC 6238, as every authenticator app does it.
function codeOf(secret) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret.replace(/=+$/, "")].map((letter) =>
    letters.indexOf(letter).toString(2).padStart(5, "0"),
  );
  const bytes = bits
    .join("")
    .match(/.{8}/g)
    .map((byte) => Number.parseInt(byte, 2));
  const moment = Buffer.alloc(8);
  moment.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac("sha1", Buffer.from(bytes)).update(moment).digest();
  const at = digest[19] & 15;
  return String((digest.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

// The secret of the latest mail with such a link; the worker sends it, so it may take a moment.
async function mailed(kind) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const files = await readdir(mails, { recursive: true }).catch(() => []);
    for (const file of files.sort().reverse()) {
      const text = await readFile(path.join(mails, file), "utf8").catch(() => "");
      const link = text
        .replace(/=\r?\n/g, "")
        .replaceAll("=3D", "=")
        .match(new RegExp(`/${kind}#([\\w.~-]+)`));
      if (link && text.includes(`${name}@example.org`)) return link[1];
    }
    assert.ok(Date.now() < deadline, `no mail with ${kind} has come`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
