// The home feed as Lighthouse sees it on a phone: the median of three runs.
// node e2e/lighthouse.mjs ADDRESS PHOTO [LEAST]; prints the scores, exits with 1 when performance is below LEAST (95) or the others below 100.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import lighthouse from "lighthouse";
import { chromium } from "playwright-core";
import { launch, person, publish, until } from "./kit.mjs";

const [address, photo, least = "95"] = process.argv.slice(2);
const RUNS = 3;
/** Lighthouse slows the processor down four times, which suits a machine of about 1,500 of its points; the phone shall be the same one everywhere. */
const POINTS_OF_A_PHONE = 375;
const MOST_SLOWDOWN = 4;
/** Lighthouse's own slow 4G. */
const NETWORK = {
  rttMs: 150,
  throughputKbps: 1638.4,
  requestLatencyMs: 562.5,
  downloadThroughputKbps: 1474.56,
  uploadThroughputKbps: 675,
};
const PORT = 9222 + Math.floor(Math.random() * 1000);
const folder = await mkdtemp(path.join(tmpdir(), "lighthouse-"));

const cookies = await furnish();
const context = await chromium.launchPersistentContext(folder, {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    `--remote-debugging-port=${PORT}`,
    "--disable-background-networking",
    "--no-first-run",
  ],
});
try {
  await context.addCookies(cookies);
  const points = (await measure(MOST_SLOWDOWN)).environment.benchmarkIndex;
  const slowdown = Math.min(MOST_SLOWDOWN, Math.max(1, points / POINTS_OF_A_PHONE));
  say(`This machine has ${points} points; its processor is slowed down ${slowdown.toFixed(1)} times.`);
  const reports = [];
  for (let run = 0; run < RUNS; run++) reports.push(await measure(slowdown));
  conclude(reports);
} finally {
  await context.close();
  await rm(folder, { recursive: true, force: true });
}

/** Somebody whose feed has pictures in it. */
async function furnish() {
  const browser = await launch();
  const run = Date.now().toString(36);
  const ana = await person(browser, address, `ana.${run}`);
  const bo = await person(browser, address, `bo.${run}`);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  for (const caption of ["First", "Second", "Third"]) await publish(ana, photo, caption);
  await until(async () => (await bo.call("GET", "/feed?limit=12")).posts.length >= 3);
  const kept = await bo.context.cookies();
  await browser.close();
  return kept;
}

async function measure(cpuSlowdownMultiplier) {
  const { lhr } = await lighthouse(`${address}/`, {
    port: PORT,
    output: "json",
    logLevel: "error",
    disableStorageReset: true,
    throttling: { ...NETWORK, cpuSlowdownMultiplier },
    onlyCategories: ["performance", "accessibility", "best-practices"],
  });
  return lhr;
}

function conclude(reports) {
  const score = (name) =>
    reports.map(({ categories }) => Math.round(categories[name].score * 100)).sort((a, b) => a - b)[
      Math.floor(RUNS / 2)
    ];
  const audit = (name) => reports.map(({ audits }) => audits[name].displayValue).join(", ");
  const scores = {
    performance: score("performance"),
    accessibility: score("accessibility"),
    "best-practices": score("best-practices"),
  };
  say(JSON.stringify(scores));
  for (const name of [
    "first-contentful-paint",
    "largest-contentful-paint",
    "total-blocking-time",
    "cumulative-layout-shift",
    "speed-index",
  ])
    say(`${name}: ${audit(name)}`);
  const lost = Object.values(reports[0].audits).filter(
    ({ id, score: value, scoreDisplayMode }) =>
      scoreDisplayMode === "binary" && value === 0 && isOf(reports[0], id),
  );
  for (const { id, title } of lost) say(`lost: ${id} (${title})`);
  const isGood =
    scores.performance >= Number(least) && scores.accessibility === 100 && scores["best-practices"] === 100;
  process.exitCode = isGood ? 0 : 1;
}

function isOf({ categories }, audit) {
  return ["accessibility", "best-practices"].some((name) =>
    categories[name].auditRefs.some(({ id, weight }) => id === audit && weight > 0),
  );
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
