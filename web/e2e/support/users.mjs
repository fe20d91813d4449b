// Users of the browser tests: signed in through the API, which is faster than by hand, and the content they create.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { launch, recordErrors, TIMEOUT_MS, waitUntil } from "./browser.mjs";

export const PASSWORD = "a fine password";
/** A suffix for usernames, so that a flow can run repeatedly on the same installation. */
export const RUN = Date.now().toString(36).slice(-5);

/** A signed-in user in their own browser context; `call` sends API requests as them. */
export async function signIn(
  browser,
  address,
  username,
  { isNew = true, consoleErrors = [], ...options } = {},
) {
  const context = await browser.newContext({ locale: "en-GB", serviceWorkers: "block", ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
  const response = await context.request.post(`${address}/api/v1/${isNew ? "accounts" : "sessions"}`, {
    data: { username, password: options.password ?? PASSWORD },
  });
  if (!response.ok()) throw new Error(`${username} could not sign in: ${await response.text()}`);
  const { token, account } = await response.json();
  const page = await context.newPage();
  recordErrors(page, consoleErrors, { ignored: /404/, prefix: `${username}: ` });
  return { username, id: account.account_id, context, page, call: createApi(address, token) };
}

function createApi(address, token) {
  return async (method, path, body) => {
    const isJson = body !== undefined && !(body instanceof FormData);
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(isJson ? { "Content-Type": "application/json" } : {}),
      },
      body: isJson ? JSON.stringify(body) : body,
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    const text = await response.text();
    return text === "" ? null : JSON.parse(text);
  };
}

/** Runs a flow in a new browser; fails on console errors that are not expected. */
export async function runFlow(address, flow, expected = null) {
  const browser = await launch();
  const consoleErrors = [];
  try {
    await flow((username, options) => signIn(browser, address, username, { consoleErrors, ...options }));
    const unexpected = consoleErrors.filter((each) => !expected?.test(each));
    assert.deepEqual(unexpected, [], "no console errors");
  } finally {
    await browser.close();
  }
}

/** Joins through the form, and skips the first steps. */
export async function join(page, address, username, email = "") {
  await page.goto(`${address}/join`);
  await page.fill("[name=email]", email);
  await submitCredentials(page, `${address}/welcome`, username);
  await page.getByRole("button", { name: "Skip for now" }).click();
  await page.waitForURL(`${address}/`);
}

/** Logs in through the form. */
export async function logIn(page, address, username) {
  await page.goto(`${address}/login`);
  await submitCredentials(page, `${address}/`, username);
}

async function submitCredentials(page, destination, username) {
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForURL(destination);
}

/** Publishes a post through the API. */
export async function publish(author, photo, caption) {
  const media_id = await upload(author, photo);
  return author.call("POST", "/posts", { media_ids: [media_id], caption, alt_texts: [caption] });
}

/** Publishes a story through the API. */
export async function publishStory(author, photo, text, more = {}) {
  const media_id = await upload(author, photo, { kind: "story" });
  return author.call("POST", "/stories", { media_id, text, ...more });
}

async function upload(author, photo, fields = {}) {
  return uploadFile(author, await readFile(photo), fields);
}

/** Uploads the bytes of a JPEG; returns the id of the media, which are ready. */
export async function uploadFile({ call }, content, fields = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([content], { type: "image/jpeg" }), "photo.jpg");
  const { media_id } = await call("POST", "/media/upload", form);
  await waitUntil(async () => (await call("GET", `/media/${media_id}`)).state === "ready");
  return media_id;
}

/** Waits until search finds this very user; similar names may rank higher. */
export async function waitUntilSearchable(user, username) {
  await waitUntil(async () => {
    const { people } = await user.call("GET", `/search/people?q=${username}`);
    return people.some((found) => found.username === username);
  });
}
