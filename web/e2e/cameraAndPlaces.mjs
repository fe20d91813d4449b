// Camera details that the author opts in to, a place from the gazetteer, and one's own places on the map; nothing is asked of other sites.
// node e2e/cameraAndPlaces.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]; the photo's EXIF says it was taken with a Canon EOS R5.

import assert from "node:assert/strict";
import { DESKTOP, launch, openPage, PHONE, screenshot, waitUntil } from "./support/browser.mjs";
import { describe, publishAndWait, waitUntilUploaded } from "./support/composer.mjs";
import { RUN, signIn } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const LINE = /Canon EOS R5 · RF35mm F1.8 MACRO IS STM · 35 mm · f\/2.8 · 1\/250 s · ISO 400/;
const browser = await launch();

try {
  for (const [shape, options] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const user = await signIn(browser, address, `lens.${shape}.${RUN}`, options);
    const elsewhere = noteForeignRequests(user.page);
    const code = await publishWithCamera(user, shape);
    await lookAsGuest(code, options, shape);
    await hideCamera(user, code);
    await chooseOwnPlace(user, shape);
    await showByDefault(user);
    assert.deepEqual(elsewhere, [], "no request leaves the site");
    await user.context.close();
  }
  await lookInArabic();
} finally {
  await browser.close();
}

function noteForeignRequests(page) {
  const found = [];
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (/^https?:$/.test(protocol) && origin !== new URL(address).origin) found.push(request.url());
  });
  return found;
}

async function openComposer(page) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", photo);
  await waitUntilUploaded(page, 1);
  await describe(page, "A gradient");
}

async function publishWithCamera({ page, call, id }, shape) {
  await openComposer(page);
  const camera = page.getByRole("switch", { name: "Show camera, lens and exposure" });
  assert.equal(await camera.isChecked(), false, "it is off by default");
  await page.getByText(LINE).waitFor();
  await camera.click();
  await page.getByRole("combobox", { name: "Place" }).fill("münch");
  await page.getByRole("option", { name: /Munich.*Germany/ }).waitFor();
  await screenshot(page, shots, `places-${shape}`, { fullPage: true });
  await page.getByRole("option", { name: /Munich.*Germany/ }).click();
  await page.getByRole("button", { name: "Remove place" }).waitFor();
  await publishAndWait(page);
  const [post] = (await call("GET", `/accounts/${id}/posts`)).posts;
  assert.equal(post.place.name, "Munich");
  assert.equal(post.media[0].camera.camera, "Canon EOS R5");
  return post.code;
}

async function lookAsGuest(code, options, shape) {
  const page = await openPage(browser, [], options);
  await page.goto(`${address}/p/${code}`);
  await page.getByText(LINE).waitFor();
  await screenshot(page, shots, `camera-${shape}`);
  await page.context().close();
}

async function hideCamera({ page }, code) {
  await page.goto(`${address}/p/${code}`);
  await page.getByText(LINE).waitFor();
  await page
    .getByRole("button", { name: /^More options/ })
    .first()
    .click();
  await page.getByRole("button", { name: "Hide camera details" }).click();
  await page.getByText(LINE).waitFor({ state: "detached" });
}

async function chooseOwnPlace({ page }, shape) {
  await openComposer(page);
  await page.getByRole("button", { name: "My places" }).click();
  const map = page.getByRole("img", { name: "Your places on a map of the world" });
  await map.waitFor();
  await screenshot(page, shots, `own-places-${shape}`, { fullPage: true });
  await map.locator("circle").first().click();
  await page.getByRole("button", { name: "Remove place" }).click();
  await page.getByRole("button", { name: "My places" }).click();
  await page.getByRole("button", { name: "Munich" }).click();
  await page.getByRole("button", { name: "Remove place" }).waitFor();
}

async function showByDefault({ page }) {
  await page.goto(`${address}/settings/privacy`);
  const saved = page.waitForResponse((response) => response.request().method() === "PATCH" && response.ok());
  await page.getByRole("switch", { name: "Show camera details" }).click();
  await saved;
  await page.goto(`${address}/create`);
  await page.getByText(LINE).waitFor();
  await waitUntil(() => page.getByRole("switch", { name: "Show camera, lens and exposure" }).isChecked());
}

async function lookInArabic() {
  const { page, context } = await signIn(browser, address, `lens.ar.${RUN}`, { ...PHONE, locale: "ar" });
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", photo);
  await waitUntilUploaded(page, 1);
  await page.getByRole("combobox", { name: "المكان" }).fill("برلين");
  await page.getByRole("option", { name: /Berlin.*ألمانيا/ }).waitFor();
  await screenshot(page, shots, "places-ar", { fullPage: true });
  await context.close();
}
