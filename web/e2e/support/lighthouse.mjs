// A visit with an empty cache, measured by Lighthouse on a phone (slow 4G: 1.6 Mbit/s; 4× CPU slowdown).
//
// The scores are computed from CPU time. Lighthouse measures wall-clock time, which on a busy machine says more about other processes
// than about the page: the same build scored between 53 and 87 within an hour, and between 95 and 99 this way. So each task of the
// recorded trace is shortened to its CPU time (cpuTime.mjs) before it is scored. The wall-clock result is returned as well.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import lighthouse from "lighthouse";
import { chromium } from "playwright-core";
import { useCpuTime } from "./cpuTime.mjs";

const MAX_UNMEASURED = 4;
const FIRST_PAINT = "first-contentful-paint";
export const CATEGORIES = ["performance", "accessibility", "best-practices"];

/** Now and then Lighthouse sees no paint at all in a tab that the browser treats as hidden: then it is visited again. */
export async function measureVisit(address, cookies) {
  for (let tries = 1; ; tries++) {
    const { byCpu, byClock } = await visit(address, cookies);
    const paint = byCpu.audits[FIRST_PAINT];
    if (!byCpu.runtimeError && paint.numericValue !== undefined) return { byCpu, byClock };
    const why = byCpu.runtimeError?.message ?? paint.errorMessage;
    if (tries === MAX_UNMEASURED) throw new Error(`${address} was not measured in ${tries} visits: ${why}`);
  }
}

async function visit(address, cookies) {
  const folder = await mkdtemp(path.join(tmpdir(), "lighthouse-"));
  const port = 9222 + Math.floor(Math.random() * 1000);
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      `--remote-debugging-port=${port}`,
      "--disable-background-networking",
      "--no-first-run",
      "--disable-renderer-backgrounding",
      "--disable-backgrounding-occluded-windows",
    ],
  });
  try {
    await context.addCookies(cookies);
    const artifacts = path.join(folder, "artifacts");
    const flags = { port, logLevel: "error", disableStorageReset: true, onlyCategories: CATEGORIES };
    await lighthouse(address, { ...flags, gatherMode: artifacts });
    const byClock = (await lighthouse(address, { ...flags, auditMode: artifacts })).lhr;
    await useCpuTime(artifacts);
    return { byClock, byCpu: (await lighthouse(address, { ...flags, auditMode: artifacts })).lhr };
  } finally {
    await context.close();
    await rm(folder, { recursive: true, force: true });
  }
}
