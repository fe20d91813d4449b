// Accessibility of every page, on phone and desktop, light and dark: no WCAG 2.2 A or AA violation that axe finds, no layout shift.
// node e2e/axe.mjs ADDRESS PHOTO MODERATOR [ONLY]; exits with 1 and lists the violations. ONLY: part of a page's name.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { launch, waitUntil } from "./support/browser.mjs";
import { publish, signIn } from "./support/users.mjs";

const [address, photo, moderator, only = ""] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 800 };
const MAX_SHIFT = 0.02;
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const browser = await launch();
const wrong = [];

try {
  const options = { viewport: PHONE, colorScheme: "light", reducedMotion: "reduce" };
  const mo = await signIn(browser, address, moderator, { ...options, isNew: false });
  const ana = await signIn(browser, address, `ana.${Date.now().toString(36)}`, options);
  const post = await createContent(ana, mo);
  const guest = { page: await (await browser.newContext(options)).newPage() };
  for (const [name, path, open] of guestPages(ana)) await checkPage(guest.page, name, path, open);
  for (const [name, path, open] of await memberPages(mo, ana, post))
    await checkPage(mo.page, name, path, open);
} finally {
  await browser.close();
}
if (wrong.length > 0) {
  process.stderr.write(`${wrong.join("\n")}\n`);
  process.exitCode = 1;
}

function guestPages(ana) {
  return [
    ["welcome", "/"],
    ["join", "/join"],
    ["login", "/login"],
    ["forgot password", "/forgot-password"],
    ["profile for guests", `/@${ana.username}`],
    ["not found", "/nowhere/at/all"],
  ];
}

async function memberPages({ call, username }, ana, post) {
  const [found] = (await call("GET", "/moderation/cases")).cases;
  const person = `/@${ana.username}`;
  return [
    ["home", "/"],
    ["post", `/p/${post.code}`],
    ["why this post", `/p/${post.code}`, openExplanation],
    ["profile", person],
    ["person menu", person, (page) => page.getByRole("button", { name: /^More options/ }).click()],
    ["report", person, openReport],
    ["tagged", `${person}/tagged`],
    ["followers", `${person}/followers`],
    ["following", `${person}/following`],
    ["own profile", `/@${username}`],
    ["saved", "/saved"],
    ["new collection", "/saved", (page) => page.getByRole("button", { name: "New collection" }).click()],
    ["archive", "/archive"],
    ["requests", "/requests"],
    ["suggestions", "/suggestions"],
    ["search", "/search"],
    ["search results", "/search?q=ana", (page) => page.getByRole("option").first().waitFor()],
    ["explore", "/explore"],
    ["tag", "/tags/harbour"],
    ["missing place", "/places/nowhere"],
    ["activity", "/activity"],
    ["messages", "/messages"],
    ["decisions", "/decisions"],
    ["queue", "/moderation"],
    ["case", `/moderation/cases/${found.case_id}`],
    ["log", "/moderation/log"],
    ["create", "/create"],
    ["new story", "/stories/new"],
    ["story draft", "/stories/new", openStory],
    ["preferences", "/preferences"],
    ["settings", "/settings"],
    ...["profile", "account", "privacy", "security", "notifications", "programs", "data"].map((section) => [
      `settings, ${section}`,
      `/settings/${section}`,
    ]),
    ["keys", "/activity", (page) => page.keyboard.press("?")],
  ];
}

async function openReport(page) {
  await page.getByRole("button", { name: /^More options/ }).click();
  await page.getByRole("button", { name: "Report" }).click();
  await page.getByRole("button", { name: "Send" }).waitFor();
}

async function openStory(page) {
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("combobox", { name: "Mention somebody" }).fill("ana");
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /arrow keys move/ }).waitFor();
}

async function openExplanation(page) {
  await page.getByRole("button", { name: "More options for this post" }).click();
  await page.getByRole("button", { name: "Why this post?" }).click();
  await page.getByText(/^It is here because|^Its position depends/).waitFor();
}

/** Content for every page: posts, follows, a comment, a saved post, a report. */
async function createContent(ana, mo) {
  const post = await publish(ana, photo, "A quiet #harbour before the boats go out");
  await publish(mo, photo, "The other side of it");
  await mo.call("PUT", `/accounts/${ana.id}/follow`);
  await ana.call("PUT", `/accounts/${mo.id}/follow`);
  await ana.call("POST", `/posts/${post.post_id}/comments`, { text: "Taken at five in the morning." });
  await mo.call("PUT", `/posts/${post.post_id}/save`, {});
  await mo.call("POST", "/search/recent", { kind: "account", subject: ana.id });
  await mo.call("POST", "/reports", {
    kind: "post",
    object_id: post.post_id,
    reason: "spam",
    note: "An advert.",
  });
  await waitUntil(async () => (await mo.call("GET", "/notifications/unread")).unread_count > 0);
  await waitUntil(async () => (await mo.call("GET", "/search/people?q=ana")).people.length > 0);
  return post;
}

async function checkPage(page, name, path, open) {
  if (!name.includes(only)) return;
  await page.setViewportSize(PHONE);
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`about:blank`);
  await page.goto(address + path);
  await waitUntilSettled(page);
  const shift = await page.evaluate(layoutShift);
  if (shift > MAX_SHIFT) wrong.push(`${name}: the layout shifts by ${shift.toFixed(3)}`);
  await open?.(page);
  await page.waitForTimeout(150);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) wrong.push(`${name}: ${wide} px wider than a phone`);
  await page.evaluate(axe);
  await check(page, `${name}, phone`, null);
  await page.setViewportSize(DESKTOP);
  await check(page, `${name}, desktop`, null);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(100);
  // Wait for colour transitions to end, also those that are cancelled.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  await check(page, `${name}, desktop, dark`, ["color-contrast"]);
  await page.setViewportSize(PHONE);
  await check(page, `${name}, phone, dark`, ["color-contrast"]);
}

/** Waits for a heading, no visible skeleton, and no request in flight. */
async function waitUntilSettled(page) {
  await page.getByRole("heading").first().waitFor({ state: "attached" });
  await page.waitForLoadState("networkidle");
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".skeleton")].every(
      (block) => block.getBoundingClientRect().top > innerHeight,
    ),
  );
}

function layoutShift() {
  return new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => resolve(sum), 100);
  });
}

/** A busy machine may still be painting: a violation counts only if it is still there a second later. */
async function check(page, name, rules) {
  const run = rules === null ? { type: "tag", values: TAGS } : { type: "rule", values: rules };
  let violations = await violationsOf(page, run);
  if (violations.length > 0) {
    await page.waitForTimeout(1000);
    violations = await violationsOf(page, run);
  }
  for (const { id, help, nodes } of violations)
    wrong.push(
      `${name}: ${id} (${help}): ${nodes
        .map(({ target }) => target.join(" "))
        .slice(0, 4)
        .join(" | ")}`,
    );
}

async function violationsOf(page, runOnly) {
  const found = await page.evaluate(
    (only) => globalThis.axe.run({ runOnly: only, resultTypes: ["violations"] }),
    runOnly,
  );
  return found.violations;
}
