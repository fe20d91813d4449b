// Lighthouse on a phone, at a first visit: the home feed of a member, and the welcome page of guests.
// node e2e/lighthouse.mjs ADDRESS PHOTO [MIN]; exits with 1 when performance is below MIN (95), the other scores are below 100,
// or too much is transferred before the first image.

import { launch, waitUntil } from "./support/browser.mjs";
import { CATEGORIES, measureVisit } from "./support/lighthouse.mjs";
import { publish, signIn } from "./support/users.mjs";

const [address, photo, minimum = "95"] = process.argv.slice(2);
const TRIES = 3;
/** Limits on what is transferred before the first image. Measured: 10 to 19 requests, 99 to 167 KB. */
const LIMITS = { requests: 22, kilobytes: 180, shift: 0.02 };
/**
 * Below this benchmark index the machine is too slow or too busy for a meaningful score: performance is printed, but not enforced.
 * Measured with the same build: 99 at 2,650 points, 89 at 570 to 800.
 */
const MIN_BENCHMARK = 1_500;
const METRICS = {
  FCP: "first-contentful-paint",
  LCP: "largest-contentful-paint",
  TBT: "total-blocking-time",
  CLS: "cumulative-layout-shift",
  SI: "speed-index",
};

const results = [await passes("home", await createMember()), await passes("welcome", [])];
process.exitCode = results.every(Boolean) ? 0 : 1;

/** Creates a user whose feed has posts; returns their cookies. */
async function createMember() {
  const browser = await launch();
  const run = Date.now().toString(36);
  const ana = await signIn(browser, address, `ana.${run}`);
  const bo = await signIn(browser, address, `bo.${run}`);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  for (const caption of ["First", "Second", "Third"]) await publish(ana, photo, caption);
  await waitUntil(async () => (await bo.call("GET", "/feed?limit=12")).posts.length >= 3);
  const cookies = await bo.context.cookies();
  await browser.close();
  return cookies;
}

/** Passes at the first try, or at two of three. */
async function passes(name, cookies) {
  const faults = [];
  for (let tries = 1, good = 0; tries <= TRIES; tries++) {
    const found = faultsOf(await measure(name, cookies), name);
    if (found.length === 0) good += 1;
    if (good === tries || good === 2) return true;
    faults.push(...found);
  }
  for (const fault of faults) print(`${name}: ${fault}`);
  return false;
}

async function measure(name, cookies) {
  const { byCpu, byClock } = await measureVisit(`${address}/`, cookies);
  const { benchmarkIndex } = byCpu.environment;
  print(`${name}: ${scores(byCpu)}; wall clock ${scores(byClock)} with ${benchmarkIndex} points`);
  return byCpu;
}

function faultsOf({ categories, audits, environment }, name) {
  const faults = [];
  const score = (category) => Math.round(categories[category].score * 100);
  const isQuiet = environment.benchmarkIndex >= MIN_BENCHMARK;
  if (isQuiet && score("performance") < Number(minimum))
    faults.push(`performance is ${score("performance")}`);
  for (const category of CATEGORIES.slice(1))
    for (const { id, weight } of categories[category].auditRefs)
      if (weight > 0 && audits[id].score === 0)
        faults.push(`${category} loses by ${id}: ${audits[id].title}`);
  const shift = audits["cumulative-layout-shift"].numericValue;
  if (shift > LIMITS.shift) faults.push(`the layout shifts by ${shift}`);
  return name === "home" ? [...faults, ...faultsBeforeFirstImage(audits)] : faults;
}

/** Checks what was transferred before the first image. */
function faultsBeforeFirstImage(audits) {
  const { items } = audits["network-requests"].details;
  const picture = items.find(({ resourceType, url }) => resourceType === "Image" && /\/\d+\.jpg/.test(url));
  if (picture === undefined) return ["the first image was never loaded"];
  const before = items.filter((each) => each !== picture && each.networkRequestTime < picture.networkEndTime);
  const kilobytes = Math.round(before.reduce((sum, { transferSize }) => sum + transferSize, 0) / 1000);
  print(`home: ${before.length} requests and ${kilobytes} KB before the first image`);
  return [
    ...(before.length > LIMITS.requests ? [`${before.length} requests before the first image`] : []),
    ...(kilobytes > LIMITS.kilobytes ? [`${kilobytes} KB before the first image`] : []),
  ];
}

function scores({ categories, audits }) {
  const labels = CATEGORIES.map((name) => `${name} ${Math.round(categories[name].score * 100)}`);
  const metrics = Object.entries(METRICS).map(([name, id]) => `${name} ${audits[id].displayValue}`);
  return `${labels.join(", ")} (${metrics.join(", ")})`;
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
