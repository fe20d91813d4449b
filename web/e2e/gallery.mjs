// Every surface as pictures: phone and desktop, light and dark, on one sheet each, of an installation with `tintype demo` in it.
// node e2e/gallery.mjs ADDRESS USERNAME PASSWORD FOLDER [ONLY]      (USERNAME a moderator, to see the queue)

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { launch } from "./kit.mjs";

const [address, username, password, folder, only = ""] = process.argv.slice(2);
const SHAPES = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 800 } };
const SHEET = { width: 1112, height: 862 };
const browser = await launch();

try {
  await mkdir(folder, { recursive: true });
  const guest = await browser.newPage({ locale: "en-GB", reducedMotion: "reduce" });
  for (const [name, path] of GUESTS()) await picture(guest, name, path);
  const member = await browser.newPage({ locale: "en-GB", reducedMotion: "reduce" });
  const entry = await member.request.post(`${address}/api/v1/sessions`, { data: { username, password } });
  if (!entry.ok()) throw new Error(`${username} could not sign in: ${await entry.text()}`);
  for (const [name, path, open] of await members(member)) await picture(member, name, path, open);
} finally {
  await browser.close();
}

function GUESTS() {
  return [
    ["welcome", "/"],
    ["join", "/join"],
    ["login", "/login"],
  ];
}

async function members(page) {
  const get = async (path) => (await page.request.get(`${address}/api/v1${path}`)).json();
  const { posts } = await get("/feed?limit=10");
  const [post] = posts;
  const other = posts.find(({ viewer_is_author }) => !viewer_is_author)?.author.username ?? username;
  const { story_ring = [] } = await get("/stories/feed");
  const teller = story_ring.find(({ is_self }) => !is_self);
  const tag = posts.flatMap(({ spans }) => spans).find(({ kind }) => kind === "hashtag")?.tag ?? "light";
  return [
    ["home", "/"],
    ...(teller ? [["story", `/stories/${teller.user_id}`]] : []),
    ["post", `/p/${post.code}`],
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
    ["settings", "/settings"],
    ["settings-profile", "/settings/profile"],
    ["settings-privacy", "/settings/privacy"],
    ["settings-security", "/settings/security"],
    ["settings-notifications", "/settings/notifications"],
    ["settings-data", "/settings/data"],
    ["preferences", "/preferences"],
    ["moderation", "/moderation"],
    ["keys", "/", (shown) => shown.keyboard.press("?")],
  ];
}

async function picture(page, name, path, open) {
  if (!name.includes(only)) return;
  const shots = [];
  for (const [shape, viewport] of Object.entries(SHAPES))
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.goto(address + path);
      await settle(page);
      await open?.(page);
      await page.waitForTimeout(400);
      shots.push({
        shape,
        content: (await page.screenshot({ type: "jpeg", quality: 85 })).toString("base64"),
      });
    }
  await writeFile(join(folder, `${name}.jpg`), await sheet(shots));
  process.stdout.write(`${name}\n`);
}

/** On the screen no skeleton is left, and every picture is there. */
async function settle(page) {
  await page.getByRole("heading").first().waitFor({ state: "attached" });
  await page.waitForLoadState("networkidle").catch(() => {}); // A clip that plays never rests.
  await page.waitForFunction(() => {
    const isOnScreen = (part) => part.getBoundingClientRect().top < innerHeight;
    const hasBones = [...document.querySelectorAll(".bone")].some(isOnScreen);
    return !hasBones && [...document.images].filter(isOnScreen).every((image) => image.complete);
  });
}

async function sheet(shots) {
  const page = await browser.newPage({ viewport: SHEET });
  const tags = shots
    .map(({ shape, content }) => `<img class="${shape}" src="data:image/jpeg;base64,${content}">`)
    .join("");
  await page.setContent(`<style>
    body { margin: 0; padding: 16px; background: #777; display: grid; gap: 16px;
           grid-template: 407px 407px / 198px 198px 1fr; justify-items: start }
    .phone { grid-row: 1 / 3; align-self: center; width: 198px }
    .desktop { grid-column: 3; height: 407px }
  </style>${tags}`);
  const content = await page.screenshot({ type: "jpeg", quality: 72 });
  await page.close();
  return content;
}
