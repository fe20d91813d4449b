// Screenshots of every page (phone and desktop, light and dark, one sheet each) of an installation with `tintype demo` in it.
// node e2e/gallery.mjs ADDRESS USERNAME PASSWORD FOLDER [ONLY]      (USERNAME a moderator, to see the queue)

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { launch } from "./support/browser.mjs";
import { signIn } from "./support/users.mjs";

const [address, username, password, folder, only = ""] = process.argv.slice(2);
const SHAPES = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 800 } };
const SHEET = { width: 897, height: 862 };
const browser = await launch();

try {
  await mkdir(folder, { recursive: true });
  const guest = await browser.newPage({ locale: "en-GB", reducedMotion: "reduce" });
  for (const [name, path] of guestPages()) await capture(guest, name, path);
  const member = await browser.newPage({ locale: "en-GB", reducedMotion: "reduce" });
  const entry = await member.request.post(`${address}/api/v1/sessions`, { data: { username, password } });
  if (!entry.ok()) throw new Error(`${username} could not sign in: ${await entry.text()}`);
  if (only === "") await createContent(member);
  for (const [name, path, open] of await memberPages(member)) await capture(member, name, path, open);
} finally {
  await browser.close();
}

function guestPages() {
  return [
    ["welcome", "/"],
    ["join", "/join"],
    ["login", "/login"],
  ];
}

/** Content for pages that are empty otherwise: saved and archived posts, and reports by two other users. */
async function createContent(page) {
  const me = await signIn(browser, address, username, { isNew: false, password });
  const { posts } = await me.call("GET", "/feed?limit=20");
  const others = posts.filter(({ viewer_is_author }) => !viewer_is_author);
  for (const { post_id } of others.slice(2, 11)) await me.call("PUT", `/posts/${post_id}/save`, {});
  const own = await me.call("GET", `/accounts/${me.id}/posts?limit=12`);
  for (const { post_id } of own.posts.slice(-2)) await me.call("PUT", `/posts/${post_id}/archive`);
  const [seen, ...more] = others;
  const names = [...new Set(more.map(({ author }) => author.username))].filter(
    (name) => name !== seen.author.username,
  );
  for (const [place, name] of names.slice(0, 2).entries()) {
    const somebody = await signIn(browser, address, name, { isNew: false, password });
    const about = more[place + 4];
    const report = {
      kind: "post",
      object_id: about.post_id,
      reason: ["spam", "bullying"][place],
      note: "",
    };
    await somebody.call("POST", "/reports", report).catch((error) => process.stdout.write(`${error}\n`));
    await somebody.context.close();
  }
  await converse(me, others.slice(0, 6));
  await page.waitForTimeout(1_000);
}

/** Conversations with the authors of some posts; in the newest one both have written. */
async function converse(me, posts) {
  const people = [...new Map(posts.map((post) => [post.author.account_id, post])).values()];
  for (const { author, post_id } of people.reverse()) {
    const { thread_id } = await me.call("POST", "/direct/threads", { account_ids: [author.account_id] });
    const other = await signIn(browser, address, author.username, { isNew: false, password });
    const path = `/direct/threads/${thread_id}/messages`;
    const say = (who, counter, body) =>
      who.call("POST", path, {
        device_id: "gallery",
        local_id: `${who.username}-${counter}`,
        counter,
        ...body,
      });
    const { message_id } = await say(me, 1, { text: "I keep coming back to this one.", post_id });
    await say(other, 1, {
      text: "Thank you! Taken before sunrise, with hardly any wind.",
      reply_to: message_id,
    });
    await say(me, 2, { text: "Shall we go out together next time?" });
    await say(other, 2, { text: "With pleasure. Saturday, at the old pier?" });
    await other.call("PUT", `${path}/${message_id}/reaction`, {
      device_id: "gallery",
      local_id: "r",
      counter: 3,
      emoji: "❤️",
    });
    await other.context.close();
  }
}

async function memberPages(page) {
  const get = async (path) => (await page.request.get(`${address}/api/v1${path}`)).json();
  const { posts } = await get("/feed?limit=10");
  const [post] = posts;
  const other = posts.find(({ viewer_is_author }) => !viewer_is_author)?.author.username ?? username;
  const { story_ring = [] } = await get("/stories/feed");
  const teller = story_ring.find(({ is_self }) => !is_self);
  const threadId = (await get("/direct/threads")).threads[0]?.thread_id;
  const tag = posts.flatMap(({ spans }) => spans).find(({ kind }) => kind === "hashtag")?.tag ?? "nightsky";
  return [
    ["home", "/"],
    ...(teller ? [["story", `/stories/${teller.account_id}`]] : []),
    ["post", `/p/${post.code}`],
    ["comments", "/", openComments],
    ["create", "/create"],
    ["new-story", "/stories/new"],
    ["profile", `/@${other}`],
    ["own-profile", `/@${username}`],
    ["followers", `/@${other}/followers`],
    ["saved", "/saved"],
    ["archive", "/archive"],
    ["requests", "/requests"],
    ["explore", "/explore"],
    ["search", `/search?q=${other.slice(0, 2)}`],
    ["tag", `/tags/${encodeURIComponent(tag)}`],
    ["activity", "/activity"],
    ["messages", "/messages"],
    ...(threadId ? [["conversation", `/messages/${threadId}`]] : []),
    [
      "new-message",
      "/messages",
      (shown) => shown.getByRole("button", { name: "New message" }).first().click(),
    ],
    ["settings", "/settings"],
    ["settings-profile", "/settings/profile"],
    ["settings-privacy", "/settings/privacy"],
    ["settings-security", "/settings/security"],
    ["settings-notifications", "/settings/notifications"],
    ["settings-data", "/settings/data"],
    ["preferences", "/preferences"],
    ["moderation", "/moderation"],
    ["switch-accounts", "/settings", openSwitcher],
    ["keys", "/", (shown) => shown.keyboard.press("?")],
  ];
}

/** On phones in a sheet, elsewhere beside the picture. */
async function openComments(page) {
  await page
    .getByRole("link", { name: /comment/i })
    .first()
    .click();
  await page.locator("dialog textarea").waitFor();
}

async function openSwitcher(page) {
  await page.getByRole("button", { name: "Switch accounts" }).click();
  await page.locator("dialog li").first().waitFor();
}

async function capture(page, name, path, open) {
  if (!name.includes(only)) return;
  const shots = [];
  for (const [shape, viewport] of Object.entries(SHAPES))
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.goto(address + path);
      await waitUntilSettled(page);
      await open?.(page);
      await page.waitForTimeout(400);
      shots.push({
        shape,
        colorScheme,
        content: (await page.screenshot({ type: "jpeg", quality: 85 })).toString("base64"),
      });
    }
  await writeFile(join(folder, `${name}.jpg`), await composeSheet(shots));
  process.stdout.write(`${name}\n`);
}

/** Waits until no skeleton is visible and every visible image has loaded. */
async function waitUntilSettled(page) {
  await page.getByRole("heading").first().waitFor({ state: "attached" });
  await page.waitForLoadState("networkidle").catch(() => {}); // A playing video never lets the network idle.
  await page.waitForFunction(() => {
    const isOnScreen = (part) => part.getBoundingClientRect().top < innerHeight;
    const hasSkeletons = [...document.querySelectorAll(".skeleton")].some(isOnScreen);
    return !hasSkeletons && [...document.images].filter(isOnScreen).every((image) => image.complete);
  });
}

async function composeSheet(shots) {
  const page = await browser.newPage({ viewport: SHEET });
  const tags = shots
    .map(
      ({ shape, colorScheme, content }) =>
        `<img class="${shape} ${colorScheme}" src="data:image/jpeg;base64,${content}">`,
    )
    .join("");
  await page.setContent(`<style>
    body { margin: 0; padding: 16px; background: #777; display: grid; gap: 16px; grid-template: 407px 407px / 198px 651px }
    img { height: 407px }
    .phone { grid-column: 1 }
    .desktop { grid-column: 2 }
    .light { grid-row: 1 }
    .dark { grid-row: 2 }
  </style>${tags}`);
  const content = await page.screenshot({ type: "jpeg", quality: 72 });
  await page.close();
  return content;
}
