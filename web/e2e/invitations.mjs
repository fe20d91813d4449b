// A member makes an invitation link; a guest joins by it, follows the inviter in the first steps and finds their post at home.
// A stranger's post has a follow button; a followed hashtag brings strangers' posts home. Revoked links say so.
// node e2e/invitations.mjs ADDRESS PHOTO [FOLDER for pictures]; exits with 1 and says what did not happen.

import assert from "node:assert/strict";
import { launch, openPage, PHONE, screenshot, waitUntil } from "./support/browser.mjs";
import { PASSWORD, publish, RUN, signIn } from "./support/users.mjs";

const [address, photo, folder] = process.argv.slice(2);
const browser = await launch();
const consoleErrors = [];
try {
  const ana = await signIn(browser, address, `ana.${RUN}`);
  const cy = await signIn(browser, address, `cy.${RUN}`);
  await publish(ana, photo, "A harbour at dawn");
  const { code } = await publish(cy, photo, `Nets drying #nets${RUN}`);

  const link = await makeLink(ana.page);
  const bo = await openPage(browser, consoleErrors, PHONE);
  await joinBy(bo, link, `bo.${RUN}`);
  await followStranger(bo, code);
  await followHashtag(bo, `nets${RUN}`);

  await ana.page.reload();
  await ana.page.getByText(/Used 1 of 10 times/).waitFor();
  await ana.page.getByRole("button", { name: "Revoke" }).click();
  await ana.page.getByText("No links yet.").waitFor();
  const late = await openPage(browser, [], PHONE);
  await late.goto(link);
  await late.getByText("That invitation no longer works").waitFor();
  if (folder) await screenshot(late, folder, "join-outdated");
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function makeLink(page) {
  await page.goto(`${address}/settings/invitations`);
  await page.getByRole("button", { name: "Create link" }).click();
  const link = await page.locator("code").first().textContent();
  const { pathname, search } = new URL(link); // the site's own address, which is not always the one in the flow
  assert.ok(`${pathname}${search}`.startsWith("/join?invitation="), link);
  if (folder) await screenshot(page, folder, "settings-invitations");
  return `${address}${pathname}${search}`;
}

async function joinBy(page, link, username) {
  await page.goto(link);
  await page.getByText(`ana.${RUN} invites you to Tintype.`).waitFor();
  if (folder) await screenshot(page, folder, "join-invited");
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForURL(`${address}/welcome`);
  await page.getByText("Invited you").waitFor();
  if (folder) await screenshot(page, folder, "first-steps");
  await page.setInputFiles("input[type=file]", photo);
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByRole("button", { name: `Follow @ana.${RUN}` }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${address}/`);
  await page.getByRole("img", { name: "A harbour at dawn" }).first().waitFor();
}

async function followStranger(page, code) {
  await page.goto(`${address}/p/${code}`);
  const follow = page.getByRole("button", { name: `Follow @cy.${RUN}` });
  await follow.waitFor();
  if (folder) await screenshot(page, folder, "stranger-post");
  await follow.click();
  await page.getByRole("button", { name: `Following @cy.${RUN}` }).click(); // and takes it back
  await follow.waitFor();
  await page.waitForLoadState("networkidle");
}

async function followHashtag(page, tag) {
  await waitUntil(async () => (await fetch(`${address}/api/v1/tags/${tag}`)).ok);
  await page.goto(`${address}/tags/${tag}`);
  await page.getByRole("button", { name: `Follow #${tag}` }).click();
  await page.getByRole("button", { name: `Following #${tag}` }).waitFor();
  if (folder) await screenshot(page, folder, "tag-followed");
  await page.waitForLoadState("networkidle");
  await page.goto(`${address}/`);
  await page.getByRole("button", { name: `Follow @cy.${RUN}` }).waitFor();
  if (folder) await screenshot(page, folder, "home-with-hashtag");
  await page.goto(`${address}/settings/privacy`);
  await page.getByRole("button", { name: `Unfollow #${tag}` }).click();
  await page.getByText("No hashtags yet.").waitFor();
}
