// Scheduling: a post is composed, waits for its time where only its author sees it, is changed, published early or deleted; one whose time
// has come is published by the server. On phone and desktop, in three languages.
// node e2e/scheduling.mjs ADDRESS [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, launch, PHONE, screenshot, waitUntil } from "./support/browser.mjs";
import { describe, waitUntilUploaded } from "./support/composer.mjs";
import { makeNoise } from "./support/pictures.mjs";
import { RUN, signIn, uploadFile } from "./support/users.mjs";

const [address, shots] = process.argv.slice(2);
const DAY_MS = 86_400_000;
const browser = await launch();

try {
  const noise = await makeNoise(browser, 800, 600);
  for (const [shape, options] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const user = await signIn(browser, address, `later.${shape}.${RUN}`, options);
    await compose(user, noise, shape);
    await change(user, shape);
    await publishNow(user);
    await remove(user, noise);
    await waitForItsTime(user, noise);
    await user.context.close();
  }
  for (const locale of ["de", "ar"]) await look(locale, noise);
} finally {
  await browser.close();
}

async function compose({ page, call, id }, noise, shape) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", { name: "a.jpg", mimeType: "image/jpeg", buffer: noise });
  await waitUntilUploaded(page, 1);
  await describe(page, "Noise");
  await page.fill(".caption textarea", "For tomorrow");
  await page.getByRole("switch", { name: "Publish later" }).click();
  const field = page.getByLabel("Publish at");
  await field.fill("2020-01-01T10:00");
  await page.getByText("Choose a time in the future").first().waitFor();
  assert.equal(await page.locator(".publish").getAttribute("aria-disabled"), "true");
  await field.fill(localTime(Date.now() + DAY_MS));
  await screenshot(page, shots, `schedule-${shape}`, { fullPage: true });
  await page.getByRole("button", { name: "Schedule", exact: true }).click();
  await page.getByText(/^Scheduled for/).waitFor();
  assert.deepEqual((await call("GET", `/accounts/${id}/posts`)).posts, []);
}

async function change({ page, call }, shape) {
  await page.goto(`${address}/create`);
  await page.getByRole("link", { name: "Scheduled posts" }).click();
  await page.getByText("For tomorrow").waitFor();
  await screenshot(page, shots, `scheduled-${shape}`);
  await page.getByRole("button", { name: "Edit: For tomorrow" }).click();
  await page.getByLabel("Caption").fill("For next week");
  await page.getByLabel("Publish at").fill(localTime(Date.now() + 7 * DAY_MS));
  await screenshot(page, shots, `scheduled-edit-${shape}`);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("For next week").waitFor();
  const [post] = (await call("GET", "/scheduled-posts")).scheduled;
  assert.ok(Date.parse(post.publish_at) > Date.now() + 6 * DAY_MS);
  assert.equal(post.media[0].alt_text, "Noise");
}

async function publishNow({ page, call, id }) {
  await page.getByRole("button", { name: "Publish now: For next week" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Publish now" }).click();
  await page.waitForURL(/\/p\//);
  const { posts } = await call("GET", `/accounts/${id}/posts`);
  assert.deepEqual(
    posts.map(({ caption }) => caption),
    ["For next week"],
  );
}

async function remove({ page, call }, noise) {
  await scheduleByApi({ call }, noise, "Not after all", DAY_MS);
  await page.goto(`${address}/scheduled`);
  await page.getByRole("button", { name: "Delete: Not after all" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Nothing scheduled").waitFor();
}

async function waitForItsTime({ call, id }, noise) {
  await scheduleByApi({ call }, noise, "At its time", 2_000);
  await waitUntil(async () => (await call("GET", "/scheduled-posts")).scheduled.length === 0, 60_000);
  const { posts } = await call("GET", `/accounts/${id}/posts`);
  assert.deepEqual(
    posts.map(({ caption }) => caption),
    ["At its time", "For next week"],
  );
}

async function look(locale, noise) {
  const user = await signIn(browser, address, `later.${locale}.${RUN}`, { ...PHONE, locale });
  await scheduleByApi(user, noise, "#dawn", DAY_MS);
  await user.page.goto(`${address}/scheduled`);
  await user.page.getByText("#dawn").waitFor();
  await screenshot(user.page, shots, `scheduled-${locale}`);
  await user.context.close();
}

async function scheduleByApi({ call }, noise, caption, ahead_ms) {
  const media_id = await uploadFile({ call }, noise);
  const publish_at = new Date(Date.now() + ahead_ms).toISOString();
  return call("POST", "/scheduled-posts", { media_ids: [media_id], caption, publish_at });
}

/** As a `datetime-local` field has it, in the time zone of this machine, which is the browser's. */
function localTime(ms) {
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
