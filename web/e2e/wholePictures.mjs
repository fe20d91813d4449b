// Nothing of a picture is cut: a 9:16, a 3:1 and a carousel of three shapes, in the feed, on the post's page, in its overlay and
// as stories, on a phone and on a desktop. Pixels are compared: each corner of each picture has a mark.
// node e2e/wholePictures.mjs ADDRESS

import assert from "node:assert/strict";
import { DESKTOP, launch, waitUntil } from "./support/browser.mjs";
import { openDarkroom } from "./support/pictures.mjs";
import { RUN, signIn, uploadFile } from "./support/users.mjs";

const [address] = process.argv.slice(2);
const PHONE = { viewport: { width: 390, height: 844 } };
const SHAPES = { tall: [1080, 1920], wide: [1500, 500], square: [1200, 1200] };
const links = new Map();
const browser = await launch();
const consoleErrors = [];

try {
  const darkroom = await openDarkroom(browser);
  const ana = await signIn(browser, address, `ana.${RUN}`, { consoleErrors });
  const posts = [
    await publish(ana, darkroom, "tall"),
    await publish(ana, darkroom, "wide"),
    await publish(ana, darkroom, "wide", "tall", "square"),
  ];
  for (const shape of ["tall", "wide"])
    await ana.call("POST", "/stories", {
      media_id: await uploadFile(ana, await darkroom.make(...SHAPES[shape]), { kind: "story" }),
    });
  for (const [device, options] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const { page, context } = await signIn(browser, address, ana.username, {
      isNew: false,
      consoleErrors,
      ...options,
    });
    for (const { post_id, shapes } of posts) {
      const name = `${device}, ${shapes.join(" + ")}`;
      await checkFeed(page, darkroom, post_id, shapes, name);
      await checkPage(page, darkroom, post_id, shapes, name);
      await checkOverlay(page, darkroom, post_id, shapes, name);
    }
    await checkStories(page, darkroom, ana.id, device);
    await context.close();
  }
  assert.deepEqual(consoleErrors, [], "no console errors");
} finally {
  await browser.close();
}

async function publish(author, darkroom, ...shapes) {
  const media_ids = [];
  for (const shape of shapes) media_ids.push(await uploadFile(author, await darkroom.make(...SHAPES[shape])));
  const alt_texts = shapes.map((shape) => `A ${shape} one`);
  return {
    ...(await author.call("POST", "/posts", { media_ids, alt_texts, caption: shapes.join(" + ") })),
    shapes,
  };
}

async function checkFeed(page, darkroom, postId, shapes, name) {
  await page.goto(`${address}/`);
  const card = page.getByRole("article").filter({ has: page.locator(`[id="by-${postId}"]`) });
  await waitUntil(async () => {
    await page.mouse.wheel(0, 300);
    return (await card.count()) > 0;
  });
  await checkPictures(card, darkroom, shapes, `feed, ${name}`);
}

async function checkPage(page, darkroom, postId, shapes, name) {
  await page.goto(`${address}${await permalink(page, postId)}`);
  await checkPictures(page.getByRole("article"), darkroom, shapes, `page, ${name}`);
}

async function checkOverlay(page, darkroom, postId, shapes, name) {
  const link = await permalink(page, postId);
  await page.goto(`${address}/@${`ana.${RUN}`}`);
  await page.locator(`a[data-overlay][href="${link}"]`).first().click();
  await checkPictures(page.getByRole("dialog").getByRole("article"), darkroom, shapes, `overlay, ${name}`);
}

async function permalink(page, postId) {
  if (!links.has(postId)) {
    await page.goto(`${address}/`);
    const link = page.locator(`article:has([id="by-${postId}"]) a[data-overlay]`).first();
    await waitUntil(async () => {
      await page.mouse.wheel(0, 300);
      return (await link.count()) > 0;
    });
    links.set(postId, await link.getAttribute("href"));
  }
  return links.get(postId);
}

async function checkPictures(card, darkroom, shapes, name) {
  for (const [index, shape] of shapes.entries()) {
    const image = card.locator(".strip img").nth(index);
    await image.waitFor();
    if (index > 0) await card.getByRole("button", { name: "Next photo" }).click();
    await settle(image);
    const [width, height] = SHAPES[shape];
    await darkroom.assertWhole(image, width / height, `${name}: ${shape}`);
  }
}

async function checkStories(page, darkroom, accountId, device) {
  await page.goto(`${address}/stories/${accountId}`);
  for (const shape of ["tall", "wide"]) {
    const image = page.locator(".story-media img");
    await image.waitFor();
    await page.keyboard.press(" "); // Paused.
    await page.waitForFunction(
      (image) => image.complete && image.naturalWidth > 0,
      await image.elementHandle(),
    );
    const [width, height] = SHAPES[shape];
    await darkroom.assertWholeInside(image, width / height, `story, ${device}: ${shape}`);
    if (shape === "tall") await page.keyboard.press("ArrowRight");
  }
}

/** Loaded, faded in, scrolled below the top bar, and not moving any more. */
async function settle(image) {
  const element = await image.elementHandle();
  await image.page().waitForFunction((image) => image.complete && image.naturalWidth > 0, element);
  await element.evaluate((image) => image.closest(".media").scrollIntoView({ block: "center" }));
  let last = "";
  await waitUntil(async () => {
    const now = JSON.stringify([
      await image.boundingBox(),
      await element.evaluate((image) => getComputedStyle(image).opacity),
    ]);
    const isStill = now === last && now.endsWith('"1"]');
    last = now;
    return isStill;
  });
}
