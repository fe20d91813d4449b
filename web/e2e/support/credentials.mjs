// Credentials of the browser tests: a virtual authenticator for passkeys, TOTP codes, and reauthentication by password.

import { createHmac } from "node:crypto";
import { PASSWORD } from "./users.mjs";

/** Adds a virtual authenticator with user verification (WebAuthn). */
export async function addAuthenticator(page) {
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

/** Confirms the password if the reauthentication dialog opens; shortly after joining it does not. */
export async function reauthenticateIfAsked(page, expected) {
  const dialog = page.getByRole("dialog", { name: "Confirm it is you" });
  await dialog.or(expected).first().waitFor();
  if (!(await dialog.isVisible())) return;
  await dialog.locator("[name=password]").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await expected.first().waitFor();
}

/** Confirms with a recovery code, which the reauthentication dialog asks for where an authenticator app is set up. */
export async function reauthenticateWithCode(page, code, expected) {
  const dialog = page.getByRole("dialog", { name: "Confirm it is you" });
  await dialog.getByRole("button", { name: "Use a recovery code" }).click();
  await dialog.locator("[name=code]").fill(code);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await expected.first().waitFor();
}

/** Sets up an authenticator app; returns the recovery codes. */
export async function setUpTotp(page) {
  await page.getByRole("button", { name: "Set up" }).click();
  const picture = page.getByRole("img", { name: "QR code for an authenticator app" });
  await reauthenticateIfAsked(page, picture);
  const secret = await page.locator("section code").first().textContent();
  await page.fill("[name=code]", totpCode(secret.replaceAll(" ", "")));
  await page.getByRole("button", { name: "Turn it on" }).click();
  await page.getByRole("button", { name: "I have saved them" }).waitFor();
  return page.locator(".codes code").allTextContents();
}

/** The current TOTP code (RFC 6238). */
export function totpCode(secret) {
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
