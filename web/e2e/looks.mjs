// Renders edits with the browser's preview as raw pixels, to compare them with the server's.
// node e2e/looks.mjs FOLDER: reads picture.png, cases.json and the strips there, writes NUMBER.rgba and sizes.json.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { chromium } from "playwright-core";
import { build } from "vite";

const SITE = "http://tintype.test";
const [folder] = process.argv.slice(2);
const { looks, edits } = JSON.parse(await readFile(path.join(folder, "cases.json"), "utf8"));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--enable-unsafe-swiftshader", "--disable-background-networking"],
});
const pageErrors = [];

try {
  const page = await browser.newPage();
  page.on("pageerror", (error) => pageErrors.push(String(error)));
  await page.route(`${SITE}/**`, answer);
  await page.goto(`${SITE}/`);
  await page.addScriptTag({ content: await bundle() });
  const sizes = [];
  for (const [number, edit] of edits.entries()) {
    const drawn = await page.evaluate(draw, { looks, edit, picture: "/picture.png" });
    await writeFile(path.join(folder, `${number}.rgba`), Buffer.from(drawn.pixels, "base64"));
    sizes.push([drawn.width, drawn.height]);
  }
  await writeFile(path.join(folder, "sizes.json"), JSON.stringify(sizes));
  assert.ok(await page.evaluate(survive), "a lost context is restored with its picture");
  assert.deepEqual(pageErrors, []);
} finally {
  await browser.close();
}

// The site does not exist: every request is answered from the folder.
async function answer(route) {
  const name = path.basename(new URL(route.request().url()).pathname);
  if (name === "") await route.fulfill({ contentType: "text/html", body: "<canvas></canvas>" });
  else await route.fulfill({ contentType: "image/png", body: await readFile(path.join(folder, name)) });
}

async function bundle() {
  const [made] = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      target: "es2022",
      lib: { entry: "src/rooms/media/looks/index.ts", formats: ["iife"], name: "tintypeLooks" },
    },
  });
  return made.output[0].code;
}

// Phones take the GPU context away from background pages.
async function survive() {
  const canvas = document.querySelector("canvas");
  const gl = canvas.getContext("webgl2");
  const middle = () => {
    const pixel = new Uint8Array(4);
    gl.readPixels(canvas.width >> 1, canvas.height >> 1, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return pixel.join();
  };
  await globalThis.redraw();
  const before = middle();
  const switchOff = gl.getExtension("WEBGL_lose_context");
  const happens = (name) => new Promise((done) => canvas.addEventListener(name, done, { once: true }));
  const lost = happens("webglcontextlost");
  switchOff.loseContext();
  await lost;
  const restored = happens("webglcontextrestored").then(middle);
  setTimeout(() => switchOff.restoreContext());
  return (await restored) === before && before !== "0,0,0,0";
}

async function draw({ looks, edit, picture }) {
  const { createPreview, PLAIN } = globalThis.tintypeLooks;
  const file = await (await fetch(picture)).blob();
  const photo = await createImageBitmap(file, { colorSpaceConversion: "none" });
  globalThis.preview ??= createPreview(document.querySelector("canvas"), looks);
  const whole = { ...PLAIN, ...edit, crop: { ...PLAIN.crop, ...edit.crop } };
  globalThis.redraw = () => globalThis.preview.render(photo, whole);
  await globalThis.redraw();
  const gl = document.querySelector("canvas").getContext("webgl2");
  const { drawingBufferWidth: width, drawingBufferHeight: height } = gl;
  const pixels = new Uint8Array(width * height * 4);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  let text = "";
  for (let at = 0; at < pixels.length; at += 8192)
    text += String.fromCharCode(...pixels.subarray(at, at + 8192));
  return { width, height, pixels: btoa(text) };
}
