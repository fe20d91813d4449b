// What the browser tests share: a browser, and people in it who are signed up over the API, which is quicker than by hand.

import { readFile } from "node:fs/promises";
import { chromium } from "playwright-core";

export const PASSWORD = "a fine password";
export const PATIENCE_MS = 30_000;

export function launch(...args) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
      "--enable-unsafe-swiftshader",
      ...args,
    ],
  });
}

/** Somebody in a browser context of their own; `call` asks the API in their name. */
export async function person(browser, address, username, { isNew = true, troubles = [], ...options } = {}) {
  const context = await browser.newContext({ locale: "en-GB", serviceWorkers: "block", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const entry = await context.request.post(`${address}/api/v1/${isNew ? "accounts" : "sessions"}`, {
    data: { username, password: options.password ?? PASSWORD },
  });
  if (!entry.ok()) throw new Error(`${username} could not sign in: ${await entry.text()}`);
  const { token, account } = await entry.json();
  const page = await context.newPage();
  page.on("pageerror", (error) => troubles.push(`${username}: ${error}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("404"))
      troubles.push(`${username}: ${message.text()}`);
  });
  const call = async (method, path, body) => {
    const answer = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined || body instanceof FormData ? {} : { "Content-Type": "application/json" }),
      },
      body: body === undefined || body instanceof FormData ? body : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    const text = await answer.text();
    return text === "" ? null : JSON.parse(text);
  };
  return { username, id: account.account_id, context, page, call };
}

/** A post of theirs, without the form. */
export async function publish(author, photo, caption) {
  const media_id = await upload(author, photo);
  return author.call("POST", "/posts", { media_ids: [media_id], caption, alt_texts: [caption] });
}

/** A story of theirs, without the form. */
export async function tellStory(author, photo, text) {
  const media_id = await upload(author, photo, { kind: "story" });
  return author.call("POST", "/stories", { media_id, text });
}

async function upload({ call }, photo, fields = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([await readFile(photo)], { type: "image/jpeg" }), "photo.jpg");
  const { media_id } = await call("POST", "/media/upload", form);
  await until(async () => (await call("GET", `/media/${media_id}`)).state === "ready");
  return media_id;
}

/** Search knows somebody; others may have names that are like theirs, and be found before. */
export async function canFind(one, username) {
  await until(async () => {
    const { people } = await one.call("GET", `/search/people?q=${username}`);
    return people.some((found) => found.username === username);
  });
}

/** What the worker does comes a moment later: look again until it shows, as a person would. */
export async function until(look, patience_ms = PATIENCE_MS) {
  const deadline = Date.now() + patience_ms;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`It did not come true: ${look}`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Opens an address again until it shows the text. */
export async function seesAt({ page }, url, text) {
  await until(async () => {
    await page.goto(url);
    return page
      .getByText(text)
      .first()
      .waitFor({ timeout: 2_000 })
      .then(
        () => true,
        () => false,
      );
  });
}
