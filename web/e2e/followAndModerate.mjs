// Search by keyboard, follow request and approval, collections, a report with decision and appeal, a block.
// node e2e/followAndModerate.mjs ADDRESS PHOTO MODERATOR; exits with 1 and says what did not happen.

import { DESKTOP, PHONE, reloadUntilVisible } from "./support/browser.mjs";
import { publish, RUN, runFlow, waitUntilSearchable } from "./support/users.mjs";

const [address, photo, moderator] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;

await runFlow(address, async (enter) => {
  const ana = await enter(ANA, DESKTOP);
  const bo = await enter(BO, PHONE);
  const mo = await enter(moderator, { ...DESKTOP, isNew: false });
  await ana.call("PATCH", "/accounts/me", { is_private: true });
  const post = await publish(ana, photo, "A quiet harbour");

  await findAndRequest(bo);
  await approve(ana, bo);
  await useCollections(bo, post);
  await report(bo);
  await decide(mo);
  await appeal(ana);
  await block(ana, bo);
});

async function findAndRequest(bo) {
  const { page } = bo;
  await waitUntilSearchable(bo, ANA);
  await page.goto(`${address}/`);
  await page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" });
  await page.locator("nav a[aria-current]").first().waitFor();
  await page.keyboard.press("/");
  await page.getByRole("combobox").fill(ANA);
  await page.getByRole("option").first().waitFor();
  await page.getByRole("combobox").press("ArrowDown");
  await page.getByRole("combobox").press("Enter");
  await page.waitForURL(`${address}/@${ANA}`);
  await page.getByText("This account is private").last().waitFor();
  await page.getByRole("button", { name: /^Follow/ }).click();
  await page.getByRole("button", { name: /^Requested/, pressed: true }).waitFor();
  await page.goto(`${address}/search`);
  await page.getByRole("link", { name: ANA }).waitFor();
}

async function approve(ana, bo) {
  await reloadUntilVisible(ana, `${address}/activity`, "requested to follow you");
  await ana.page.getByRole("button", { name: `Let ${BO} follow you` }).click();
  await ana.page.getByText(`${BO} follows you now`).waitFor();
  await bo.page.goto(`${address}/@${ANA}`);
  await bo.page.getByRole("link", { name: "A quiet harbour" }).waitFor();
  await ana.page.goto(`${address}/@${ANA}/followers`);
  await ana.page.getByRole("searchbox").fill(RUN);
  await ana.page.getByRole("link", { name: new RegExp(BO) }).waitFor();
}

async function useCollections({ page, call }, post) {
  await call("PUT", `/posts/${post.post_id}/save`, {});
  await page.goto(`${address}/saved`);
  await page.getByRole("button", { name: "New collection" }).click();
  await page.getByLabel("Name").fill("Harbours");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.waitForURL(/\/saved\/\d+$/);
  await page.getByRole("link", { name: "All" }).click();
  await page.getByRole("link", { name: "A quiet harbour" }).waitFor(); // The empty collection has a button of the same name.
  await page.getByRole("button", { name: "Select" }).click();
  await page.getByRole("button", { name: "A quiet harbour" }).click();
  await page.getByRole("button", { name: "Move to" }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /Harbours/ })
    .click();
  await page.getByRole("link", { name: "Harbours 1" }).click();
  await page.getByRole("link", { name: "A quiet harbour" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(`${address}/saved`);
  await page.getByRole("link", { name: "A quiet harbour" }).waitFor();
}

async function report({ page }) {
  await page.goto(`${address}/@${ANA}`);
  await page.getByRole("button", { name: `More options for ${ANA}` }).click();
  await page.getByRole("button", { name: /^Mute posts/, pressed: false }).click();
  await page.getByRole("button", { name: /^Mute posts/, pressed: true }).waitFor();
  await page.getByRole("button", { name: "Report" }).click();
  await page.getByLabel("Pretends to be someone else").check();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Moderators will look at it").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
}

async function decide({ page }) {
  await page.goto(`${address}/moderation`);
  const row = page.getByRole("link", { name: new RegExp(ANA) });
  await row.waitFor();
  await page.keyboard.press("j");
  await page.locator("a.case:focus").waitFor();
  await row.focus();
  await page.keyboard.press("o");
  await page.getByText("Pretends to be someone else").waitFor();
  await page.getByRole("button", { name: "Claim" }).click();
  await page.getByRole("button", { name: "Release" }).waitFor();
  await page.getByLabel("Warn").check();
  await page.getByLabel(/^Reason/).fill("Uses the name of somebody else.");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Done: Warn").waitFor();
  await page.goto(`${address}/moderation/log`);
  await page.getByText("Uses the name of somebody else.").first().waitFor();
}

async function appeal(ana) {
  await reloadUntilVisible(ana, `${address}/decisions`, "Warned");
  await ana.page.getByRole("button", { name: "Appeal" }).click();
  await ana.page.getByLabel("Why should it be looked at again?").fill("It is my own name.");
  await ana.page.getByRole("button", { name: "Send" }).click();
  await ana.page.getByText("It is my own name.").waitFor();
}

async function block(ana, bo) {
  await ana.page.goto(`${address}/@${BO}`);
  await ana.page.getByRole("button", { name: `More options for ${BO}` }).click();
  await ana.page.getByRole("button", { name: /^Block/ }).click();
  await ana.page.getByRole("dialog").getByRole("button", { name: "Block", exact: true }).click();
  await ana.page.getByRole("heading", { name: `${BO} is blocked.` }).waitFor();
  await bo.page.goto(`${address}/@${ANA}`);
  await bo.page.getByText("Nobody goes by that name").waitFor();
}
