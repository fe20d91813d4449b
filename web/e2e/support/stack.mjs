// The programs of the running Tintype, which a flow may kill; its supervisor starts them again.

import { readFile } from "node:fs/promises";
import path from "node:path";
import { waitUntil } from "./browser.mjs";

const PATIENCE_MS = 120_000;

/** Kills a program, and returns a function that waits until it runs again and the site is ready. */
export async function kill(home, address, name) {
  const before = await findPid(home, name);
  process.kill(before, "SIGKILL");
  return async () => {
    await waitUntil(async () => ![before, undefined].includes(await findPid(home, name)), PATIENCE_MS);
    await waitUntil(() => isReady(address), PATIENCE_MS);
  };
}

/** The process id, from the supervisor's notebook. */
async function findPid(home, name) {
  const { processes } = JSON.parse(await readFile(path.join(home, "run", "state.json"), "utf8"));
  return processes.find((each) => each.name === name)?.identity?.pid;
}

function isReady(address) {
  return fetch(`${address}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
