// Checks transcoded videos in a browser: plays video.mp4 from the middle, and appends the segments of an HLS playlist.
// node e2e/videos.mjs FOLDER: prints {width, height, duration_s, played, buffered_s} as JSON.

import { readFile } from "node:fs/promises";
import path from "node:path";
import { chromium } from "playwright-core";

const SITE = "http://tintype.test";
const [folder] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--autoplay-policy=no-user-gesture-required"],
});

try {
  const page = await browser.newPage();
  await page.route(`${SITE}/**`, answer);
  await page.goto(`${SITE}/`);
  const seen = await page.evaluate(play, "/video.mp4");
  seen.buffered_s = await page.evaluate(join, "/index.m3u8");
  process.stdout.write(`${JSON.stringify(seen)}\n`);
} finally {
  await browser.close();
}

// The site does not exist: every request is answered from the folder.
async function answer(route) {
  const name = path.basename(new URL(route.request().url()).pathname);
  if (name === "") return route.fulfill({ contentType: "text/html", body: "<video muted></video>" });
  const body = await readFile(path.join(folder, name)).catch(() => null);
  if (!body) return route.fulfill({ status: 404 });
  const [, from] = /bytes=(\d+)-/.exec(route.request().headers()["range"] ?? "") ?? [];
  const start = Number(from ?? 0);
  return route.fulfill({
    status: from === undefined ? 200 : 206,
    contentType: name.endsWith("m3u8") ? "application/vnd.apple.mpegurl" : "video/mp4",
    headers: {
      "accept-ranges": "bytes",
      "content-range": `bytes ${start}-${body.length - 1}/${body.length}`,
    },
    body: body.subarray(start),
  });
}

async function play(address) {
  const video = document.querySelector("video");
  const happens = (name) =>
    new Promise((done, failed) => {
      video.addEventListener(name, done, { once: true });
      video.addEventListener("error", () => failed(new Error(video.error?.message)), { once: true });
    });
  video.src = address;
  await happens("loadeddata");
  video.currentTime = video.duration / 2;
  await happens("seeked");
  await video.play();
  await happens("ended");
  return {
    width: video.videoWidth,
    height: video.videoHeight,
    duration_s: video.duration,
    played: video.ended,
  };
}

// As HLS players do: appends the segments of the playlist to a source buffer.
async function join(address) {
  const answer = await fetch(address);
  if (!answer.ok) return null;
  const text = await answer.text();
  const names = [/URI="([^"]+)"/.exec(text)?.[1], ...text.split("\n").filter((line) => /^[^#\s]/.test(line))];
  const source = new MediaSource();
  const video = document.createElement("video");
  video.src = URL.createObjectURL(source);
  await new Promise((done) => source.addEventListener("sourceopen", done, { once: true }));
  const buffer = source.addSourceBuffer('video/mp4; codecs="avc1.64001f,mp4a.40.2"');
  for (const name of names) {
    const ready = new Promise((done, failed) => {
      buffer.addEventListener("updateend", done, { once: true });
      buffer.addEventListener("error", () => failed(new Error(name)), { once: true });
    });
    buffer.appendBuffer(await (await fetch(`/${name}`)).arrayBuffer());
    await ready;
  }
  return buffer.buffered.length === 1 ? buffer.buffered.end(0) : -buffer.buffered.length;
}
