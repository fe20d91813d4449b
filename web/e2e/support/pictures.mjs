// Pictures with a coloured mark in each corner, and whether a screenshot shows all four of them.

import assert from "node:assert/strict";

const MARKS = {
  "top left": "#ff0000",
  "top right": "#00ff00",
  "bottom left": "#0000ff",
  "bottom right": "#ffff00",
};
const SIDES = { "top left": [0, 0], "top right": [1, 0], "bottom left": [0, 1], "bottom right": [1, 1] };
const MARK_SHARE = 0.08;
const MAX_DIFFERENCE = 60;

/** A JPEG of noise, which no encoder makes small. */
export async function makeNoise(browser, width, height) {
  const page = await browser.newPage();
  const base64 = await page.evaluate(
    ([width, height]) => {
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const pen = canvas.getContext("2d");
      const pixels = pen.createImageData(width, height);
      for (let at = 0; at < pixels.data.length; at++)
        pixels.data[at] = at % 4 === 3 ? 255 : Math.random() * 255;
      pen.putImageData(pixels, 0, 0);
      return canvas.toDataURL("image/jpeg", 0.9).split(",")[1];
    },
    [width, height],
  );
  await page.close();
  return Buffer.from(base64, "base64");
}

/** A page without content that draws and decodes pictures; the app's own policy forbids data: images. */
export async function openDarkroom(browser) {
  const page = await browser.newPage();
  return {
    make: (width, height) => makePicture(page, width, height),
    assertWhole: async (image, ratio, what) =>
      assertWhole(page, image, await image.boundingBox(), ratio, what),
    assertWholeInside: async (image, ratio, what) =>
      assertWhole(page, image, fitted(await image.boundingBox(), ratio), ratio, what),
  };
}

/** Where a picture of this shape lies in a box that contains it whole (`object-fit: contain`). */
function fitted({ x, y, width, height }, ratio) {
  const wide = Math.min(width, height * ratio);
  const high = wide / ratio;
  return { x: x + (width - wide) / 2, y: y + (height - high) / 2, width: wide, height: high };
}

async function makePicture(page, width, height) {
  const base64 = await page.evaluate(
    ([width, height, marks, sides, share]) => {
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const pen = canvas.getContext("2d");
      const sky = pen.createLinearGradient(0, 0, width, height);
      sky.addColorStop(0, "#345");
      sky.addColorStop(1, "#a97");
      pen.fillStyle = sky;
      pen.fillRect(0, 0, width, height);
      const side = Math.min(width, height) * share;
      for (const [name, colour] of Object.entries(marks)) {
        const [x, y] = sides[name];
        pen.fillStyle = colour;
        pen.fillRect(x * (width - side), y * (height - side), side, side);
      }
      return canvas.toDataURL("image/jpeg", 0.95).split(",")[1];
    },
    [width, height, MARKS, SIDES, MARK_SHARE],
  );
  return Buffer.from(base64, "base64");
}

/** The image is on screen in this shape, with the marks of all its corners where the corners are. */
async function assertWhole(darkroom, image, box, ratio, what) {
  assert.ok(
    Math.abs(box.width / box.height / ratio - 1) < 0.02,
    `${what}: ${box.width} × ${box.height} is not ${ratio}`,
  );
  const shot = await image.page().screenshot({ clip: box });
  const found = await darkroom.evaluate(readCorners, [shot.toString("base64"), SIDES, MARK_SHARE / 4]);
  for (const [name, colour] of Object.entries(MARKS)) {
    const wanted = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
    const difference = Math.max(...wanted.map((value, band) => Math.abs(value - found[name][band])));
    assert.ok(difference <= MAX_DIFFERENCE, `${what}: ${name} is ${found[name]}, not ${colour}`);
  }
}

/** Runs in the darkroom: the colour near each corner. */
async function readCorners([base64, sides, inset]) {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), {
    width: image.width,
    height: image.height,
  });
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const away = Math.max(1, Math.round(Math.min(image.width, image.height) * inset));
  return Object.fromEntries(
    Object.entries(sides).map(([name, [x, y]]) => {
      const at = [x ? image.width - 1 - away : away, y ? image.height - 1 - away : away];
      return [name, [...pen.getImageData(...at, 1, 1).data].slice(0, 3)];
    }),
  );
}
