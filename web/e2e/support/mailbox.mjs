// Reads the mails that an installation writes into its mail folder.

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { waitUntil } from "./browser.mjs";

/** Waits for a mail to this address with such a link; resolves to the secret in the link. */
export async function waitForMailSecret(folder, to, kind) {
  let secret = null;
  await waitUntil(async () => {
    secret = await latest(folder, to, new RegExp(`/${kind}#([\\w.~-]+)`));
    return secret !== null;
  });
  return secret;
}

async function latest(folder, to, link) {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  for (const file of files.sort().reverse()) {
    const text = await readFile(path.join(folder, file), "utf8").catch(() => "");
    const found = text
      .replace(/=\r?\n/g, "")
      .replaceAll("=3D", "=")
      .match(link);
    if (found && text.includes(to)) return found[1];
  }
  return null;
}
