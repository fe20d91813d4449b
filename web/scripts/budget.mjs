/**
 * Fails when the JavaScript that a first visit to the home feed downloads outgrows its budget, or when what home loads after its
 * first screen brings the cryptography of encrypted conversations along.
 *
 * Counted: the entry, which contains the home page, and everything it imports statically, each gzipped.
 * Usage: npm run budget [-- --json]      (after npm run build)
 */
import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const BUDGET_BYTES = 60 * 1000;
const FIRST_SCREEN = ["index.html"];
const ENCRYPTION = "src/rooms/direct/encryption/index.ts";

/** @typedef {{ file: string, imports?: string[], dynamicImports?: string[], css?: string[] }} Chunk */

const dist = new URL("../dist/", import.meta.url);
/** @type {Record<string, Chunk>} */
const manifest = JSON.parse(await readFile(new URL(".vite/manifest.json", dist), "utf8"));

/** @param {string} key @param {Set<string>} seen */
function collect(key, seen) {
  const chunk = manifest[key];
  if (chunk === undefined) throw new Error(`${key} is not in the build: has the page moved?`);
  if (seen.has(chunk.file)) return;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file);
  for (const imported of chunk.imports ?? []) collect(imported, seen);
}

/** @param {string} file */
async function gzippedBytes(file) {
  return gzipSync(await readFile(new URL(file, dist)), { level: 9 }).length;
}

/** @type {Set<string>} */
const first = new Set();
for (const key of FIRST_SCREEN) collect(key, first);

/** What the first screen loads later, save where somebody opens an encrypted conversation. */
function findLater() {
  const later = new Set();
  for (const { file, dynamicImports } of Object.values(manifest))
    if (first.has(file)) for (const key of dynamicImports ?? []) if (key !== ENCRYPTION) collect(key, later);
  return later;
}

const encryption = manifest[ENCRYPTION]?.file;
if (encryption === undefined) throw new Error(`${ENCRYPTION} is not in the build: has it moved?`);
const isEncryptionApart = !first.has(encryption) && !findLater().has(encryption);

const assets = (await readdir(new URL("assets/", dist))).map((name) => `assets/${name}`);
const rows = [];
for (const file of assets.filter((name) => /\.(js|css)$/.test(name))) {
  rows.push({ file, bytes: await gzippedBytes(file), isFirst: first.has(file) });
}
rows.sort((a, b) => Number(b.isFirst) - Number(a.isFirst) || b.bytes - a.bytes);
const total_bytes = rows
  .filter(({ file, isFirst }) => isFirst && file.endsWith(".js"))
  .reduce((sum, row) => sum + row.bytes, 0);
const isWithin = total_bytes <= BUDGET_BYTES;

if (process.argv.includes("--json")) {
  process.stdout.write(`${JSON.stringify({ total_bytes, budget_bytes: BUDGET_BYTES, rows })}\n`);
} else {
  for (const { file, bytes, isFirst } of rows) {
    process.stdout.write(
      `${isFirst ? "first" : "later"}  ${(bytes / 1000).toFixed(1).padStart(6)} KB  ${file}\n`,
    );
  }
  process.stdout.write(
    `Initial JavaScript: ${(total_bytes / 1000).toFixed(1)} KB gzipped, budget ${BUDGET_BYTES / 1000} KB: ${isWithin ? "within" : "OVER"}\n`,
  );
}
if (!isEncryptionApart)
  process.stderr.write(
    `${encryption} is loaded with the home feed: who imports it, or a helper that is in it?\n`,
  );
process.exitCode = isWithin && isEncryptionApart ? 0 : 1;
