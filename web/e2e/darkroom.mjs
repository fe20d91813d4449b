// The composer on a phone and on a desktop: pictures ordered by keyboard, mouse and touch, a panorama crop, a refused file named and left
// out, a double click that publishes once, several drafts.
// node e2e/darkroom.mjs ADDRESS [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, launch, PHONE, screenshot, waitUntil } from "./support/browser.mjs";
import { describe, frames, waitUntilSaved, waitUntilUploaded } from "./support/composer.mjs";
import { openDarkroom } from "./support/pictures.mjs";
import { openTouch } from "./support/touch.mjs";
import { RUN, signIn } from "./support/users.mjs";

const [address, shots] = process.argv.slice(2);
const browser = await launch();
const consoleErrors = [];
const BROKEN = { name: "broken.jpg", mimeType: "image/jpeg", buffer: Buffer.from("not a picture") };

try {
  const darkroom = await openDarkroom(browser);
  const shapes = { "wide.jpg": [900, 300], "tall.jpg": [450, 800], "plain.jpg": [800, 600] };
  const pictures = [];
  for (const [name, [width, height]] of Object.entries(shapes))
    pictures.push({ name, mimeType: "image/jpeg", buffer: await darkroom.make(width, height) });
  const ana = await signIn(browser, address, `ana.${RUN}`, { consoleErrors, ...DESKTOP });
  await composeOnDesktop(ana, pictures);
  const bo = await signIn(browser, address, `bo.${RUN}`, { consoleErrors, ...PHONE, hasTouch: true });
  await composeOnPhone(bo, pictures);
  const unexpected = consoleErrors.filter((each) => !/\b4\d\d\b/.test(each)); // The refused file.
  assert.deepEqual(unexpected, [], "no console errors");
} finally {
  await browser.close();
}

async function composeOnDesktop({ page, call, id }, pictures) {
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", [...pictures, BROKEN]);
  await waitUntilUploaded(page, 3);
  await page.getByText("broken.jpg will be left out").waitFor();
  await describe(page, "wide", "tall", "plain");

  // By keyboard: the first picture goes to the third position.
  await frames(page).first().click();
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await page.getByText("Now at position 3 of 4").waitFor();
  assert.deepEqual(await order(page), ["tall", "plain", "wide", "broken.jpg"]);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.inputValue("textarea.alt"), "plain", "arrow keys select");

  // By mouse, back to the front.
  await drag(page, frames(page).nth(2), frames(page).first());
  assert.deepEqual(await order(page), ["wide", "tall", "plain", "broken.jpg"]);

  // The crop shows its result, on the stage and in the filmstrip.
  await frames(page).nth(2).click();
  await page.getByRole("tab", { name: "Crop" }).click();
  await page.getByRole("radio", { name: "3:1" }).check({ force: true });
  await screenshot(page, shots, "darkroom-crop");
  await page.getByRole("tab", { name: "Adjust" }).click();
  const shown = page.locator(".slide:not([inert]) canvas[role=img]");
  await waitUntil(
    async () => (await shown.evaluate(({ width, height }) => Math.round(width / height))) === 3,
  );
  await screenshot(page, shots, "darkroom-desktop");

  await page.fill(".caption textarea", "x".repeat(2_201));
  await page.getByText("The caption is too long.").waitFor();
  await page.getByRole("button", { name: "Publish" }).click({ force: true });
  assert.equal(new URL(page.url()).pathname, "/create", "it says why and stays");
  await page.fill(".caption textarea", "Three shapes");
  await page.getByRole("button", { name: "Publish" }).dblclick();
  await page.getByText("Published.").waitFor();
  const { posts } = await call("GET", `/accounts/${id}/posts`);
  assert.equal(posts.length, 1, "a double click publishes once");
  assert.deepEqual(
    posts[0].media.map(({ alt_text }) => alt_text),
    ["wide", "tall", "plain"],
  );
  assert.equal(Math.round(posts[0].media[2].width / posts[0].media[2].height), 3);
}

async function composeOnPhone({ page, call, id }, pictures) {
  const touch = await openTouch(page);
  await page.goto(`${address}/create`);
  await page.setInputFiles("input[type=file]", pictures);
  await waitUntilUploaded(page, 3);
  await describe(page, "wide", "tall", "plain");
  await touch.pickUp(await middle(frames(page).nth(2)), await middle(frames(page).first()));
  assert.deepEqual(await order(page), ["plain", "wide", "tall"]);

  // A swipe over the stage selects the next picture.
  await frames(page).first().click();
  const { x, y, width, height } = await page.locator(".strip").boundingBox();
  await waitUntil(async () => {
    await touch.swipe([x + width * 0.9, y + height * 0.8], [x + width * 0.1, y + height * 0.8]);
    return (await page.inputValue("textarea.alt")) !== "plain";
  });
  await screenshot(page, shots, "darkroom-phone");
  assert.ok(await isInView(page, page.getByRole("button", { name: "Publish" })), "Publish is in reach");

  // Another draft; both survive a reload.
  await page.fill(".caption textarea", "The first");
  await waitUntilSaved(page);
  await page.getByRole("button", { name: "Drafts" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Start another" }).click();
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  await page.setInputFiles("input[type=file]", pictures[0]);
  await page.fill(".caption textarea", "The second");
  await waitUntilSaved(page);
  await page.reload();
  await waitUntilUploaded(page, 1);
  assert.equal(await page.inputValue(".caption textarea"), "The second");
  await page.getByRole("button", { name: "Drafts" }).click();
  await screenshot(page, shots, "drafts-phone");
  await page.getByRole("button", { name: /^The first/ }).click();
  await waitUntilUploaded(page, 3);
  assert.equal(await page.inputValue(".caption textarea"), "The first");
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByText("Published.").waitFor();
  const { posts } = await call("GET", `/accounts/${id}/posts`);
  assert.deepEqual(
    posts.map(({ caption }) => caption),
    ["The first"],
  );
}

/** The descriptions, or names, of the pictures in their order. */
async function order(page) {
  const labels = await frames(page).evaluateAll((all) => all.map((each) => each.getAttribute("aria-label")));
  return labels.map((label) => label.replace(/^Photo \d+: /, "").replace(/\. [^.]*\.?…?$/, ""));
}

async function drag(page, from, to) {
  await page.mouse.move(...(await middle(from)));
  await page.mouse.down();
  await page.mouse.move(...(await middle(to)), { steps: 8 });
  await page.mouse.up();
}

async function middle(target) {
  const { x, y, width, height } = await target.boundingBox();
  return [x + width / 2, y + height / 2];
}

async function isInView(page, target) {
  const { y, height } = await target.boundingBox();
  const navigation = await page.locator("nav").last().boundingBox();
  return y >= 0 && y + height <= navigation.y + 1;
}
