/**
 * Builds the service worker beside the app. It is a file of its own with a fixed name and without imports, because
 * not every browser takes modules there; it carries the list of the files it keeps and a name for the release.
 */
import { createHash } from "node:crypto";
import { build, type Plugin } from "vite";

/** Parts of the latin-ext faces and of the icons are fetched when they are needed. */
const KEPT = /\.(js|css)$|latin-wght.*\.woff2$/;
const ALSO_KEPT = ["/favicon.svg", "/manifest.webmanifest", "/icons/plate-192.png"];

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
        .filter((name) => KEPT.test(name))
        .map((name) => `/${name}`)
        .sort();
      await buildWorker([...files, ...ALSO_KEPT], outDir);
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
