// Composing a story: on a phone by real touch events (drag, pinch, turn, draw, bin, look by swipe), on a desktop by keyboard. Viewers
// see each element at the same place of the canvas on another screen, vote, answer and ask to be reminded; a post is shared.
// node e2e/storyEditor.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, screenshot, waitUntil } from "./support/browser.mjs";
import { openTouch } from "./support/touch.mjs";
import { publish, RUN, runFlow, waitUntilSearchable } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const NEAR = 0.012;

await runFlow(address, async (signIn) => {
  const ana = await signIn(`ana.${RUN}`, PHONE);
  const bo = await signIn(`bo.${RUN}`, DESKTOP);
  await bo.call("PUT", `/accounts/${ana.id}/follow`);
  await ana.call("PUT", `/accounts/${bo.id}/follow`);
  await waitUntilSearchable(ana, bo.username);

  const placed = await composeByTouch(ana);
  await viewElsewhere(bo, ana, placed);
  await readAnswers(ana, bo);
  await composeByKeyboard(bo);
  await sharePost(bo, ana);
});

async function composeByTouch({ page, username }) {
  const touch = await openTouch(page);
  await page.goto(`${address}/stories/new`);
  await page.setInputFiles("input[type=file]", photo);
  await write(page, "Golden hour");
  const text = page.getByRole("button", { name: "Text: Golden hour" });
  await screenshot(page, shots, "story-editor-phone");

  // One finger drags it, two turn and enlarge it.
  const before = await boxOf(text);
  await touch.swipe([before.x, before.y], [before.x - 40, before.y - 130]);
  const dragged = await boxOf(text);
  assert.ok(
    Math.abs(dragged.x - before.x + 40) < 8 && Math.abs(dragged.y - before.y + 130) < 8,
    "it follows the finger",
  );
  await touch.turn([dragged.x, dragged.y], 40, 70, 30);
  const turned = await placementOf(text);
  assert.ok(turned.scale > 1.5 && turned.scale < 2, `two fingers enlarge it: ${turned.scale}`);
  assert.ok(Math.abs(turned.rotation - 30) < 4, `and turn it: ${turned.rotation}`);

  // The middle attracts it, and shows a line.
  const canvas = await canvasOf(page);
  const now = await boxOf(text);
  await touch.hold([now.x, now.y], [canvas.x + canvas.width / 2 + 4, now.y + 60]);
  await page.locator(".guide.across").waitFor();
  await touch.lift();
  assert.equal((await placementOf(text)).x, 0.5, "it has snapped to the middle");

  await draw(page, touch);
  await dropIntoBin(page, touch);
  await changeLook(page, touch);
  await addStickers(page, username);
  await screenshot(page, shots, "story-editor-stickers");
  const placed = await normalized(page, ".story-canvas", ".story-canvas .layer");
  const answered = page.waitForResponse(
    (each) => each.url().endsWith("/stories") && each.request().method() === "POST",
  );
  await page.locator("button:enabled", { hasText: /^Share$/ }).click();
  const { elements } = await (await answered).json();
  assert.deepEqual(
    elements.map(({ type }) => type),
    ["drawing", "text", "poll", "question", "countdown"],
  );
  await page.waitForURL(`${address}/`);
  return placed;
}

async function write(page, words) {
  await page.getByRole("button", { name: "Text", exact: true }).click();
  await page.getByRole("textbox", { name: "Text" }).fill(words);
  await page.getByRole("button", { name: "Poster" }).click();
  await page.getByRole("button", { name: /^Plate/ }).click();
  await screenshot(page, shots, "story-editor-text");
  await page.getByRole("button", { name: "Done" }).click();
}

async function draw(page, touch) {
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Draw" }).click();
  const canvas = await canvasOf(page);
  const line = (top) => touch.swipe([canvas.x + 40, canvas.y + top], [canvas.x + 240, canvas.y + top + 60]);
  await line(60);
  await line(110);
  assert.equal(await page.locator(".story-canvas > svg path").count(), 2);
  await screenshot(page, shots, "story-editor-draw");
  await page.getByRole("button", { name: "Undo" }).last().click();
  assert.equal(await page.locator(".story-canvas > svg path").count(), 1, "one line back");
  await page.getByRole("application", { name: /^Drawing area/ }).focus();
  for (const key of [" ", "ArrowRight", "ArrowDown", " "]) await page.keyboard.press(key);
  assert.equal(await page.locator(".story-canvas > svg path").count(), 2, "a line by keys");
  await page.getByRole("button", { name: "Done" }).click();
}

async function dropIntoBin(page, touch) {
  await write(page, "Not this");
  const canvas = await canvasOf(page);
  const text = page.getByRole("button", { name: "Text: Not this" });
  const { x, y } = await boxOf(text);
  await touch.hold([x, y], [canvas.x + canvas.width / 2, canvas.y + canvas.height - 30]);
  await page.locator(".trash.isHot").waitFor();
  await screenshot(page, shots, "story-editor-bin");
  await touch.lift();
  await text.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).first().click();
  await text.waitFor();
  await page.getByRole("button", { name: "Redo" }).first().click();
  await text.waitFor({ state: "detached" });
}

// A swipe over the bare picture brings the next look, and back again.
async function changeLook(page, touch) {
  const canvas = await canvasOf(page);
  const y = canvas.y + canvas.height * 0.85;
  await touch.swipe([canvas.x + 250, y], [canvas.x + 80, y]);
  await page.locator(".look").waitFor();
  await touch.swipe([canvas.x + 80, y], [canvas.x + 250, y]);
}

async function addStickers(page) {
  await openSticker(page, "Poll");
  await page.getByLabel("Question (optional)").fill("Dawn or dusk?");
  await page.getByLabel("Choice 1").fill("Dawn");
  await page.getByLabel("Choice 2").fill("Dusk");
  await place(page, 0.3);
  await openSticker(page, "Question");
  await page.getByLabel("What do you want to ask?").fill("Where next?");
  await place(page, 0.55);
  await openSticker(page, "Countdown");
  await page.getByLabel("What is it counting down to?").fill("The opening");
  const when = new Date(Date.now() + 2 * 86_400_000);
  await page.getByLabel("When?").fill(when.toISOString().slice(0, 16));
  await place(page, 0.8);
}

async function openSticker(page, name) {
  const done = page.getByRole("button", { name: "Done" });
  if (await done.isVisible()) await done.click();
  await page.getByRole("button", { name: "Stickers" }).click();
  await page.getByRole("dialog", { name: "Stickers" }).getByRole("button", { name }).click();
}

// Smaller, and moved by keys to a height of the canvas.
async function place(page, y) {
  await page.getByRole("button", { name: "Add to story" }).click();
  const layer = page.locator(".layer.isSelected");
  await layer.focus();
  for (let times = 0; times < 4; times++) await page.keyboard.press("-");
  const key = y < 0.45 ? "ArrowUp" : "ArrowDown";
  for (let times = 0; times < Math.round(Math.abs(y - 0.45) * 100); times++) await page.keyboard.press(key);
}

// Every element has the same place, size and turn on a screen of another shape.
async function viewElsewhere({ page }, author, placed) {
  await page.goto(`${address}/stories/${author.id}`);
  await page.getByRole("group", { name: "Dawn or dusk?" }).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  const shown = await normalized(page, ".story-media .canvas", ".elements .placed");
  assert.equal(shown.length, placed.length);
  for (const [index, element] of placed.entries())
    for (const side of ["x", "y", "width"])
      assert.ok(
        Math.abs(shown[index][side] - element[side]) < NEAR,
        `${index} ${side}: ${JSON.stringify([shown[index], element])}`,
      );
  await page.getByRole("button", { name: "Dusk" }).click();
  await page.getByText("1 vote").waitFor();
  await page.getByRole("button", { name: "Dawn" }).click();
  await page.getByRole("button", { name: /Dawn.*100/, pressed: true }).waitFor();
  await page.getByRole("textbox", { name: "Where next?" }).fill("Porto");
  await page.keyboard.press("Enter");
  await page.getByText("You answered: Porto").waitFor();
  await page.getByRole("button", { name: "Remind me" }).click();
  await page.getByRole("button", { name: "You will be reminded", pressed: true }).waitFor();
  await screenshot(page, shots, "story-player-stickers");
}

async function readAnswers({ page, id }, { username }) {
  await page.goto(`${address}/stories/${id}`);
  await page.getByRole("button", { name: "Seen by 1 person" }).click();
  await page.getByRole("dialog").last().getByText("Dawn").waitFor();
  await page.getByRole("dialog").last().getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Answers" }).click();
  const answers = page.getByRole("dialog", { name: "Where next?" });
  await answers.getByText(username).waitFor();
  await answers.getByRole("button", { name: "Share “Porto” in a new story" }).click();
  await page.getByRole("button", { name: "Text: Porto" }).waitFor();
  await screenshot(page, shots, "story-share-answer");
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Discard" }).click();
}

// Tab reaches each element; keys move, enlarge, turn and remove it, and what they did is announced.
async function composeByKeyboard({ page }) {
  await page.goto(`${address}/stories/new`);
  await page.getByRole("button", { name: "Background 2" }).click();
  await page.getByRole("button", { name: "Text", exact: true }).press("Enter");
  await page.keyboard.type("By keys");
  await page.getByRole("button", { name: "Done" }).press("Enter");
  const text = page.getByRole("button", { name: "Text: By keys" });
  await text.waitFor();
  for (
    let tabs = 0;
    tabs < 20 && !(await text.evaluate((element) => element === document.activeElement));
    tabs++
  )
    await page.keyboard.press("Tab");
  const before = await placementOf(text);
  for (const key of ["ArrowLeft", "Shift+ArrowDown", "+", "]", "]"]) await page.keyboard.press(key);
  const after = await placementOf(text);
  assert.ok(Math.abs(after.x - before.x + 0.01) < 0.001 && Math.abs(after.y - before.y - 0.05) < 0.001);
  assert.ok(Math.abs(after.scale - 1.1) < 0.001 && Math.abs(after.rotation - 10) < 0.5);
  await page.locator("[role=status]", { hasText: "turned 10°" }).waitFor({ state: "attached" });
  await screenshot(page, shots, "story-editor-desktop");
  await page.keyboard.press("Control+z");
  assert.ok(Math.abs((await placementOf(text)).rotation - 5) < 0.5, "one step back");
  await page.keyboard.press("Delete");
  await text.waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.pathname.endsWith("/new"));
}

async function sharePost({ page, id }, ana) {
  const post = await publish(ana, photo, "High tide at noon");
  await page.goto(`${address}${post.permalink}`);
  await page.getByRole("button", { name: "More options for this post" }).first().click();
  await page.getByRole("button", { name: "Share to your story" }).click();
  await page.getByRole("button", { name: `${ana.username}’s post` }).waitFor();
  await screenshot(page, shots, "story-share-post");
  await page.locator("button:enabled", { hasText: /^Share$/ }).click();
  await page.waitForURL(`${address}/`);
  await page.goto(`${address}/stories/${id}`);
  await page.getByRole("link", { name: `${ana.username}’s post` }).click();
  await page.waitForURL(`${address}${post.permalink}`);
  await ana.call("DELETE", `/posts/${post.post_id}`);
  await waitUntil(async () => {
    await page.goto(`${address}/stories/${id}`);
    await page.locator(".elements .card").waitFor();
    return page.getByText("This post is not available.").isVisible();
  });
}

/** Where the canvas is: it gives way to the controls of each tool. */
function canvasOf(page) {
  return page.locator(".story-canvas").boundingBox();
}

/** The middle of an element on the screen. */
async function boxOf(element) {
  const { x, y, width, height } = await element.boundingBox();
  return { x: x + width / 2, y: y + height / 2 };
}

/** Where an element of the editor is, as its style says. */
function placementOf(element) {
  return element.evaluate(({ style }) => ({
    x: Number.parseFloat(style.left) / 100,
    y: Number.parseFloat(style.top) / 100,
    rotation: Number(/rotate\((-?[\d.]+)deg/.exec(style.transform)[1]),
    scale: Number(/scale\(([\d.]+)/.exec(style.transform)[1]),
  }));
}

/** The middles and widths of elements, as fractions of the canvas that is shown. */
function normalized(page, canvas, elements) {
  return page.evaluate(
    ([canvas, elements]) => {
      const box = document.querySelector(canvas).getBoundingClientRect();
      return [...document.querySelectorAll(elements)].map((element) => {
        const shown = element.getBoundingClientRect();
        return {
          x: (shown.left + shown.width / 2 - box.left) / box.width,
          y: (shown.top + shown.height / 2 - box.top) / box.height,
          width: shown.width / box.width,
        };
      });
    },
    [canvas, elements],
  );
}
