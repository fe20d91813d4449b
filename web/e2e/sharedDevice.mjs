// A shared device: what one account saw is gone once its session has ended while the app was closed, and nothing of it is left
// for the next account.
// node e2e/sharedDevice.mjs ADDRESS PHOTO

import assert from "node:assert/strict";
import { launch, reloadUntilVisible, waitUntil } from "./support/browser.mjs";
import { join, publish, RUN, signIn } from "./support/users.mjs";

const [address, photo] = process.argv.slice(2);
const browser = await launch();

try {
  const ana = await signIn(browser, address, `ana.${RUN}`);
  const bo = await signIn(browser, address, `bo.${RUN}`, { serviceWorkers: "allow" });
  await publish(ana, photo, "For my followers alone");
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  const { page, context } = bo;

  await reloadUntilVisible(bo, `${address}/`, "For my followers alone");
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await reloadUntilVisible(bo, `${address}/`, "For my followers alone");
  const seenByBo = await waitForStored(page, ({ owner, images, responses }) => owner && images && responses);
  assert.equal(seenByBo.owner, bo.id);
  assert.deepEqual(seenByBo.caches, [`tintype-pictures-${bo.id}`]);

  await page.goto("about:blank");
  await context.clearCookies(); // The session ends while the app is closed.
  await page.goto(`${address}/login`);
  await waitForStored(page, ({ owner, images, responses }) => !owner && !images && !responses);

  await join(page, address, `cy.${RUN}`);
  const seenByCy = await waitForStored(page, ({ owner }) => owner);
  assert.notEqual(seenByCy.owner, bo.id);
  assert.ok(!seenByCy.caches.includes(`tintype-pictures-${bo.id}`), "no cache of the former account is left");
  assert.deepEqual(
    seenByCy.accounts.filter((id) => id !== seenByCy.owner),
    [],
    "no response of the former account is left",
  );
} finally {
  await browser.close();
}

// What the device holds, once it is as expected.
async function waitForStored(page, isExpected) {
  let found;
  await waitUntil(async () => {
    found = await page.evaluate(readStored);
    return isExpected(found);
  });
  return found;
}

async function readStored() {
  const owner = await (await (await caches.open("tintype-owner")).match("/owner"))?.text();
  const names = (await caches.keys()).filter((name) => name.startsWith("tintype-pictures"));
  const sizes = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).length));
  const seen = await readResponses();
  const images = sizes.reduce((total, size) => total + size, 0);
  return {
    owner: owner ?? null,
    caches: names,
    images,
    responses: seen.length,
    accounts: seen.map(({ accountId }) => accountId),
  };

  async function readResponses() {
    // Opening a database that the app has not created yet would create it without its stores.
    if (!(await indexedDB.databases()).some(({ name }) => name === "tintype")) return [];
    const database = await settled(indexedDB.open("tintype"));
    const all = await settled(database.transaction("seen").objectStore("seen").getAll());
    database.close();
    return all;
  }

  function settled(request) {
    return new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }
}
