// What proves who somebody is: a passkey of a device that exists only here, an authenticator app, the password once more.

import { createHmac } from "node:crypto";
import { PASSWORD } from "./kit.mjs";

/** A device with a fingerprint reader, as far as the page can tell. */
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

/** Soon after joining nothing has to be proven again; later it has. */
export async function proveIfAsked(page, expected) {
  const dialog = page.getByRole("dialog", { name: "Is it you?" });
  await dialog.or(expected).first().waitFor();
  if (!(await dialog.isVisible())) return;
  await dialog.locator("[name=password]").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await expected.first().waitFor();
}

/** Sets an authenticator app up; the recovery codes. */
export async function setUpApp(page) {
  await page.getByRole("button", { name: "Set up" }).click();
  const picture = page.getByRole("img", { name: "Code to scan with an authenticator app" });
  await proveIfAsked(page, picture);
  const secret = await page.locator("section code").first().textContent();
  await page.fill("[name=code]", codeOf(secret.replaceAll(" ", "")));
  await page.getByRole("button", { name: "Turn it on" }).click();
  await page.getByRole("button", { name: "I have kept them" }).waitFor();
  return page.locator(".codes code").allTextContents();
}

/** RFC 6238, as every authenticator app does it. */
export function codeOf(secret) {
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
