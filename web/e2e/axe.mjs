// Accessibility of every page, on phone and desktop, light and dark: no WCAG 2.2 A or AA violation that axe finds, no layout shift.
// node e2e/axe.mjs ADDRESS PHOTO MODERATOR [ONLY]; exits with 1 and lists the violations. ONLY: part of a page's name.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { launch, waitUntil } from "./support/browser.mjs";
import { publish, publishStory, signIn, uploadFile } from "./support/users.mjs";

const [address, photo, moderator, only = ""] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 800 };
const MAX_SHIFT = 0.02;
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const STICKERS = (post) => [
  { type: "text", y: 0.08, text: "Golden hour", plate: "soft" },
  { type: "poll", y: 0.24, scale: 0.7, question: "Dawn or dusk?", choices: ["Dawn", "Dusk"] },
  { type: "question", y: 0.45, scale: 0.7, prompt: "Where next?" },
  { type: "countdown", y: 0.63, scale: 0.7, title: "Opening", ends_at: inDays(3) },
  { type: "post", y: 0.85, scale: 0.4, post_id: post.post_id },
];
const inDays = (days) => new Date(Date.now() + days * 86_400_000).toISOString();
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
  const threadId = await converse({ call }, ana, post);
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
    ["scheduled", "/scheduled"],
    ["edit scheduled", "/scheduled", (page) => page.getByRole("button", { name: /^Edit:/ }).click()],
    ["requests", "/requests"],
    ["suggestions", "/suggestions"],
    ["search", "/search"],
    ["search results", "/search?q=ana", (page) => page.getByRole("option").first().waitFor()],
    ["explore", "/explore"],
    ["tag", "/tags/harbour"],
    ["missing place", "/places/nowhere"],
    ["activity", "/activity"],
    ["messages", "/messages"],
    ["messages, requests", "/messages/requests"],
    ["messages, thread", `/messages/${threadId}`],
    ["messages, menu", `/messages/${threadId}`, openMessageMenu],
    [
      "messages, options",
      `/messages/${threadId}`,
      (page) => page.getByRole("button", { name: "Conversation options" }).click(),
    ],
    [
      "messages, new",
      "/messages",
      (page) => page.getByRole("button", { name: "New message" }).first().click(),
    ],
    ["messages, search", `/messages/search?q=harbour`],
    ["messages, send", `/p/${post.code}`, openSend],
    ["decisions", "/decisions"],
    ["queue", "/moderation"],
    ["case", `/moderation/cases/${found.case_id}`],
    ["log", "/moderation/log"],
    ["create", "/create"],
    // The draft of the first is still there for the others.
    ["composer", "/create", openComposer],
    ["composer, places", "/create", openPlaces],
    ["composer, later", "/create", (page) => page.getByRole("switch", { name: "Publish later" }).click()],
    ["composer, crop", "/create", (page) => page.getByRole("tab", { name: "Crop" }).click()],
    ["composer, look", "/create", (page) => page.getByRole("tab", { name: "Look" }).click()],
    ["composer, people", "/create", (page) => page.getByRole("tab", { name: "People" }).click()],
    ["composer, drafts", "/create", (page) => page.getByRole("button", { name: "Drafts" }).click()],
    ["new story", "/stories/new"],
    ["story draft", "/stories/new", openStory],
    ["story stickers", "/stories/new", openStickers],
    ["story with stickers", "/", (page) => pauseStory(page, ana)],
    ["preferences", "/preferences"],
    ["settings", "/settings"],
    ...["profile", "account", "privacy", "security", "notifications", "programs", "import", "data"].map(
      (section) => [`settings, ${section}`, `/settings/${section}`],
    ),
    ["keys", "/activity", (page) => page.keyboard.press("?")],
  ];
}

async function openMessageMenu(page) {
  await page.getByRole("button", { name: "More", exact: true }).last().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Message" }).waitFor();
}

async function openSend(page) {
  await page.getByRole("button", { name: "Send in a message" }).click();
  await page.getByRole("dialog").locator("li button").first().waitFor();
}

async function openReport(page) {
  await page.getByRole("button", { name: /^More options/ }).click();
  await page.getByRole("button", { name: "Report" }).click();
  await page.getByRole("button", { name: "Send" }).waitFor();
}

// Two pictures, and one that the server refuses.
async function openComposer(page) {
  const broken = { name: "broken.jpg", mimeType: "image/jpeg", buffer: Buffer.from("not a picture") };
  const buffer = await readFile(photo);
  const whole = ["dawn.jpg", "day.jpg"].map((name) => ({ name, mimeType: "image/jpeg", buffer }));
  await page.setInputFiles("input[type=file]", [...whole, broken]);
  await page.getByText("broken.jpg will be left out").waitFor();
  await page.getByText("Saved on this device").waitFor();
}

async function openPlaces(page) {
  await page.getByRole("button", { name: "My places" }).click();
  await page.getByRole("img", { name: "Your places on a map of the world" }).waitFor();
}

async function openStory(page) {
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Text" }).click();
  await page.getByRole("textbox", { name: "Text" }).fill("Golden hour");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Larger" }).waitFor();
}

async function openStickers(page) {
  await openStory(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Stickers" }).click();
}

// Paused, so that it stays.
async function pauseStory(page, { username }) {
  await page.getByRole("link", { name: `${username}’s story` }).click();
  await page.getByRole("button", { name: "Pause" }).click();
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
  await scheduleTomorrow(mo);
  await publishStory(ana, photo, "", { elements: STICKERS(post) });
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

/** A thread of several days’ worth of kinds: texts, a reply, a reaction, a shared post, a photo. */
async function converse(mo, ana, post) {
  const { thread_id } = await mo.call("POST", "/direct/threads", { account_ids: [ana.id] });
  const counters = new Map([
    [mo, 0],
    [ana, 0],
  ]);
  const change = (who) => {
    counters.set(who, counters.get(who) + 1);
    return { device_id: "axe", local_id: `${counters.get(who)}`, counter: counters.get(who) };
  };
  const path = `/direct/threads/${thread_id}/messages`;
  const say = (who, body) => who.call("POST", path, { ...change(who), ...body });
  const { message_id } = await say(mo, { text: "The harbour, early: https://example.org/tides" });
  await say(ana, { text: "I am in. 🌊", reply_to: message_id });
  await say(ana, { text: "Your light", post_id: post.post_id });
  await say(ana, { media_id: await uploadFile(ana, await readFile(photo)) });
  await ana.call("PUT", `${path}/${message_id}/reaction`, { ...change(ana), emoji: "❤️" });
  return thread_id;
}

async function scheduleTomorrow(user) {
  const media_id = await uploadFile(user, await readFile(photo));
  const publish_at = new Date(Date.now() + 86_400_000).toISOString();
  await user.call("POST", "/scheduled-posts", { media_ids: [media_id], caption: "Tomorrow", publish_at });
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
  await page.evaluate(waitForAnimations); // Sheets rise: what they show is where it will be then.
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

/** Runs in the page: resolves when all animations have ended that ever end. */
function waitForAnimations() {
  const ending = document
    .getAnimations()
    .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
  return Promise.allSettled(ending.map(({ finished }) => finished)).then(() => undefined);
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
