// Publishing in the background: begun without a connection, continued after a reload, resumed after a cut connection, repeated after a lost
// answer; the post exists exactly once. What another app shares opens in the composer.
// node e2e/backgroundPublish.mjs ADDRESS [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, launch, PHONE, screenshot, TIMEOUT_MS, waitUntil } from "./support/browser.mjs";
import { describe, frames, waitUntilSaved, waitUntilUploaded } from "./support/composer.mjs";
import { openFlakyProxy } from "./support/flakyProxy.mjs";
import { makeNoise } from "./support/pictures.mjs";
import { RUN, signIn } from "./support/users.mjs";

const [address, shots] = process.argv.slice(2);
/** Cut connections carry a good part of a picture, not all of it. */
const CUT_BYTES = 400_000;
const TELL_EVERY_MS = 2_000;
const browser = await launch();
const proxy = await openFlakyProxy(address, CUT_BYTES);

try {
  const noise = await makeNoise(browser, 1400, 1000);
  assert.ok(noise.length > CUT_BYTES * 1.5, "the picture does not fit into one cut connection");
  const pictures = ["one.jpg", "two.jpg"].map((name) => ({ name, mimeType: "image/jpeg", buffer: noise }));
  for (const [shape, options] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const user = await signIn(browser, proxy.address, `${shape}.${RUN}`, {
      ...options,
      serviceWorkers: "allow",
    });
    await composeOffline(user, pictures, shape);
    await surviveReload(user, shape);
    await resumeUploads(user);
    await loseAnswer(user);
    await assertOnce(user);
    if (shape === "phone") await share(user, pictures[0]);
    await user.context.close();
  }
} finally {
  proxy.close();
  await browser.close();
}

async function composeOffline({ page, context }, pictures, shape) {
  proxy.setMode("pass");
  await page.goto(`${proxy.address}/create`);
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  proxy.setMode("refuse");
  await context.setOffline(true);
  await page.setInputFiles("input[type=file]", pictures);
  await describe(page, "First", "Second");
  await frames(page).first().click();
  await page.fill(".caption textarea", "Sent from a tunnel");
  await waitUntilSaved(page);
  await page.getByRole("button", { name: "Publish" }).dblclick();
  await page.getByText("Your post is waiting for a connection").waitFor();
  await screenshot(page, shots, `publishing-${shape}`);
}

async function surviveReload({ page, context }, shape) {
  await context.setOffline(false); // The service worker has to answer: only the connection is down now.
  await page.reload();
  await page.getByText(/Your post is waiting|Publishing your post/).waitFor();
  await screenshot(page, shots, `publishing-reloaded-${shape}`);
}

/** Every connection is lost after a while: the bytes that arrived are not sent again. */
async function resumeUploads({ page }) {
  const offsets = [];
  const note = (request) => {
    if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]));
  };
  page.on("request", note);
  proxy.setMode("cut");
  await waitUntil(async () => {
    await page.evaluate(() => dispatchEvent(new Event("online")));
    return offsets.filter((offset) => offset > 0).length >= 2;
  });
  page.off("request", note);
}

/** The server publishes the post, and its answer does not arrive. */
async function loseAnswer({ page, context }) {
  let isTaken = false;
  let isLost = false;
  await context.route("**/api/v1/posts", async (route) => {
    if (route.request().method() !== "POST" || isTaken) return route.fallback();
    isTaken = true;
    const response = await route.fetch();
    assert.equal(response.status(), 201);
    await route.abort("connectionreset");
    isLost = true;
  });
  proxy.setMode("pass");
  await whileConnecting(page, () => isLost);
  await page.reload(); // What was sent is sent again by the next page.
  await whileConnecting(page, () => page.getByText("Published.").isVisible());
  await context.unroute("**/api/v1/posts");
}

/** Tells the page now and then that it is online, as a browser does, until the condition holds. */
async function whileConnecting(page, condition) {
  let told = 0;
  await waitUntil(async () => {
    if (Date.now() - told > TELL_EVERY_MS) {
      await page.evaluate(() => dispatchEvent(new Event("online")));
      told = Date.now();
    }
    return condition();
  }, 3 * TIMEOUT_MS);
}

async function assertOnce({ call, id, page }) {
  const { posts } = await call("GET", `/accounts/${id}/posts`);
  assert.deepEqual(
    posts.map(({ caption, media }) => [caption, ...media.map(({ alt_text }) => alt_text)]),
    [["Sent from a tunnel", "First", "Second"]],
  );
  await page.waitForFunction(() => document.querySelector(".publishing .job") === null);
  const left = await page.evaluate(countStored);
  assert.deepEqual(left, { drafts: 0, draftFiles: 0 }, "nothing of it is left on the device");
}

async function share({ page }, picture) {
  await page.evaluate(
    async (bytes) => {
      const form = new FormData();
      form.set("title", "From another app");
      form.set("media", new File([new Uint8Array(bytes)], "shared.jpg", { type: "image/jpeg" }));
      await fetch("/share", { method: "POST", body: form });
    },
    [...picture.buffer],
  );
  await page.goto(`${proxy.address}/create`);
  await waitUntilUploaded(page, 1);
  assert.equal(await page.inputValue(".caption textarea"), "From another app");
}

async function countStored() {
  const database = await settled(indexedDB.open("tintype-drafts"));
  const count = (name) => settled(database.transaction(name).objectStore(name).count());
  const counts = { drafts: await count("drafts"), draftFiles: await count("draftFiles") };
  database.close();
  return counts;

  function settled(request) {
    return new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }
}
