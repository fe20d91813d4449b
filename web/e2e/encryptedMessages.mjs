// Encrypted conversations in two browsers, and a third device that restores the history from the backup.
// node e2e/encryptedMessages.mjs ADDRESS [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, PHONE, screenshot } from "./support/browser.mjs";
import { RUN, runFlow } from "./support/users.mjs";

const [address, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;
const PASSPHRASE = "heron gravel lantern otter";

await runFlow(
  address,
  async (enter) => {
    const ana = await enter(ANA, DESKTOP);
    const bo = await enter(BO, PHONE);
    await ana.call("PUT", `/accounts/${bo.id}/follow`);
    await bo.call("PUT", `/accounts/${ana.id}/follow`);

    await setUpDevice(bo);
    await beginBackup(ana);
    const url = await beginConversation(ana);
    await write(ana, "the heron is awake");
    await bo.page.goto(url);
    await read(bo, "the heron is awake");
    await write(bo, "and so am I");
    await read(ana, "and so am I");
    await screenshot(ana.page, shots, "encrypted-thread");
    await screenshot(bo.page, shots, "encrypted-thread-phone");
    assert.equal(await safetyNumber(ana), await safetyNumber(bo), "the safety number on both sides");

    await writeOffline(ana, bo, url);

    const laptop = await enter(ANA, { ...DESKTOP, isNew: false });
    await restore(laptop);
    await write(bo, "hello, laptop"); // Bo's browser adds the new device.
    await laptop.page.goto(url);
    for (const text of ["the heron is awake", "and so am I", "hello, laptop", "from the tunnel"])
      await read(laptop, text);
    await screenshot(laptop.page, shots, "encrypted-restored");
  },
  /\b(403|409)\b|ERR_INTERNET_DISCONNECTED|ERR_FAILED|WebSocket/,
);

async function setUpDevice({ page }) {
  await page.goto(`${address}/settings/encryption`);
  await page.getByText("There is no backup.").waitFor(); // The panel has set the device up.
}

async function beginBackup({ page }) {
  await page.goto(`${address}/settings/encryption`);
  await page.getByLabel("Passphrase").fill(PASSPHRASE);
  await page.getByRole("button", { name: "Begin a backup" }).click();
  await page.getByText("This device writes to your backup.").waitFor();
  await screenshot(page, shots, "encryption-settings");
}

async function restore({ page }) {
  await page.goto(`${address}/settings/encryption`);
  await page.getByText("There is a backup of another device.").waitFor();
  await page.getByLabel("Passphrase").fill(PASSPHRASE);
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await page.getByText("3 messages restored.").waitFor();
}

async function beginConversation({ page }) {
  await page.goto(`${address}/messages`);
  await page.getByRole("button", { name: "New message" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("searchbox", { name: "Search for people" }).fill(BO);
  await dialog.getByRole("list", { name: "Results" }).getByText(BO).first().click();
  await dialog.getByRole("switch", { name: "End-to-end encrypted" }).click();
  await screenshot(page, shots, "encrypted-new");
  await dialog.getByRole("button", { name: "Write", exact: true }).click();
  await page.waitForURL(/\/messages\/\d+/);
  await screenshot(page, shots, "encrypted-begun");
  await page.getByText("only the devices in this conversation").waitFor();
  return page.url();
}

async function write({ page }, text) {
  await page.getByRole("textbox", { name: /message/i }).fill(text);
  await page.keyboard.press("Enter");
  await page.getByText(text, { exact: true }).first().waitFor();
  await page.getByText("Sending…").waitFor({ state: "detached" });
}

/** Written without a connection, and sent by the next page: once. */
async function writeOffline(ana, bo, url) {
  await ana.context.setOffline(true);
  await ana.page.getByRole("textbox", { name: /message/i }).fill("from the tunnel");
  await ana.page.keyboard.press("Enter");
  await ana.page.getByText("Waiting for a connection").waitFor();
  await screenshot(ana.page, shots, "encrypted-offline");
  await ana.context.setOffline(false);
  await ana.page.goto(`${address}/explore`); // Any page sends what an earlier one has left.
  await read(bo, "from the tunnel");
  await ana.page.goto(url);
  await read(ana, "from the tunnel");
  for (const { page } of [ana, bo])
    assert.equal(await page.getByText("from the tunnel", { exact: true }).count(), 1);
}

async function read({ page }, text) {
  await page.getByText(text, { exact: true }).first().waitFor();
}

async function safetyNumber({ page }) {
  await page.getByRole("button", { name: "Conversation options" }).click();
  await page.getByRole("button", { name: /^Safety numbers/ }).click();
  const digits = await page.getByText(/^(\d{5} ){11}\d{5}$/).textContent();
  await screenshot(page, shots, "safety-number");
  await page.getByRole("button", { name: "Close", exact: true }).last().click();
  return digits;
}
