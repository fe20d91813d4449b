// The mails that an installation has written into its folder, as their reader sees them.

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { until } from "./kit.mjs";

/** The secret of the latest mail to somebody with such a link; the worker sends it, so it may take a moment. */
export async function mailed(folder, to, kind) {
  let secret = null;
  await until(async () => {
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
