/**
 * Vite plugin: builds the service worker as one file with a fixed name and without imports, because not every browser
 * supports modules there. The list of files to precache and the release id are compiled in.
 */
import { createHash } from "node:crypto";
import { build, type Plugin } from "vite";

/** Files to precache; latin-ext fonts and large icons are loaded when needed. */
const PRECACHED = /\.(js|css)$|latin-wght.*\.woff2$/;
const EXTRA_FILES = ["/favicon.svg", "/manifest.webmanifest", "/icons/plate-192.png"];

export function serviceWorker(): Plugin {
  let isBuilding = false;
  let outDir = "dist";
  return {
    name: "tintype-service-worker",
    configResolved(config) {
      isBuilding = config.command === "build" && process.env["VITEST"] === undefined;
      outDir = config.build.outDir;
    },
    async writeBundle(_, bundle) {
      if (!isBuilding) return;
      const files = Object.keys(bundle)
        .filter((name) => PRECACHED.test(name))
        .map((name) => `/${name}`)
        .sort();
      await buildWorker([...files, ...EXTRA_FILES], outDir);
    },
  };
}

async function buildWorker(files: readonly string[], outDir: string): Promise<void> {
  const release = createHash("sha256").update(files.join("\n")).digest("hex").slice(0, 12);
  await build({
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    define: { __RELEASE__: JSON.stringify(release), __FILES__: JSON.stringify(files) },
    build: {
      outDir,
      emptyOutDir: false,
      target: "es2022",
      rolldownOptions: {
        input: "src/worker/index.ts",
        output: { format: "iife", entryFileNames: "sw.js", codeSplitting: false },
      },
    },
  });
}
