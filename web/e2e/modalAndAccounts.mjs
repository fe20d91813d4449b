// A desktop: `c` goes straight to the comment field; previous and next in the modal, by buttons and keys, and one step back to the page;
// activity quotes the comment; several accounts in one browser.
// node e2e/modalAndAccounts.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, reloadUntilVisible, screenshot, waitUntil } from "./support/browser.mjs";
import { PASSWORD, publish, RUN, runFlow } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);

await runFlow(address, async (signIn) => {
  const ana = await signIn(`ana.${RUN}`, DESKTOP);
  const bo = await signIn(`bo.${RUN}`, DESKTOP);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  for (const caption of ["First plate", "Second plate", "Third plate"]) await publish(ana, photo, caption);
  await reloadUntilVisible(bo, `${address}/`, "First plate");

  await commentByKey(bo.page);
  await stepThroughPosts(bo);
  await quoteInActivity(ana);
  await switchAccounts(bo.page, ana, bo);
});

async function commentByKey(page) {
  await page.keyboard.press("j");
  await page.locator("article:focus").waitFor();
  await page.keyboard.press("c");
  const field = page.locator("dialog textarea");
  await waitUntil(() => field.evaluate((each) => each === document.activeElement).catch(() => false));
  await page.keyboard.type("Where is this?");
  await page.keyboard.press("Enter");
  await page.locator("dialog").getByText("Where is this?").waitFor();
  await field.blur();
  await page.keyboard.press("c");
  assert.ok(await field.evaluate((each) => each === document.activeElement), "c focuses the field");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
}

async function stepThroughPosts({ page, call }) {
  // Only posts near the window are in the DOM, so the order is the server's.
  const captions = (await call("GET", "/feed?limit=12")).posts.map(({ caption }) => caption);
  await page.getByRole("article").first().locator(".when").first().click();
  const dialog = page.locator("dialog");
  const shows = (caption) => dialog.getByText(caption).first().waitFor();
  await shows(captions[0]);
  assert.ok(await dialog.getByRole("button", { name: "Previous post" }).isDisabled());
  await screenshot(page, shots, "modal-steps");
  await dialog.getByRole("button", { name: "Next post" }).click();
  await shows(captions[1]);
  await waitUntil(() =>
    dialog.getByRole("button", { name: "Next post" }).evaluate((each) => each === document.activeElement),
  );
  await page.keyboard.press("ArrowRight");
  await shows(captions[2]);
  await page.keyboard.press("k");
  await shows(captions[1]);
  assert.match(page.url(), /\/p\//);
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).pathname, "/", "one step back is the page below");
}

async function quoteInActivity(ana) {
  await reloadUntilVisible(ana, `${address}/activity`, "commented on your post");
  const quote = ana.page.locator("q", { hasText: "Where is this?" });
  await quote.waitFor();
  await screenshot(ana.page, shots, "activity-quote");
}

async function switchAccounts(page, ana, bo) {
  await page.goto(`${address}/settings`);
  await page.getByRole("button", { name: "Switch accounts" }).click();
  await page.getByRole("button", { name: "Add an account" }).click();
  await page.waitForURL(`${address}/login`);
  await page.getByText("Continue as").waitFor();
  await page.fill("[name=username]", ana.username);
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/`);
  await page.goto(`${address}/@${ana.username}`);
  await page.getByRole("button", { name: "Switch accounts" }).click();
  await screenshot(page, shots, "switch-accounts");
  const signedIn = () =>
    page.evaluate(async () => (await (await fetch("/api/v1/accounts/me")).json()).username);
  assert.equal(await signedIn(), ana.username);
  await page.getByRole("button", { name: bo.username, exact: false }).first().click();
  await page.waitForURL(`${address}/`);
  await waitUntil(async () => (await signedIn()) === bo.username);
}
