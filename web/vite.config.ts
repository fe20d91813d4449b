import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { inlineBootstrap } from "./scripts/inlineScript.ts";
import { precompress } from "./scripts/precompress.ts";
import { serviceWorker } from "./scripts/serviceWorker.ts";

/** Where the Python server listens during development; `npm run dev` proxies API and media to it. */
const server = process.env["TINTYPE_SERVER"] ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [svelte(), inlineBootstrap(), serviceWorker(), precompress()],
  build: {
    target: "es2022",
    // The server's policy allows no data: URLs and no inline scripts, so everything but the bootstrap script is a separate file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: {
      // Merged, the bundler's helpers end up in the chunk of the cryptography, and whoever needs a helper loads 44 KB with it.
      experimental: { chunkOptimization: { mergeCommonChunks: false } },
      output: {
        codeSplitting: {
          // Modules shared by the first screen and later pages become one chunk: fewer requests, better compression.
          // Modules shared only by later pages stay out of it.
          groups: [{ name: "core", tags: ["$initial"], minShareCount: 2 }],
        },
      },
    },
  },
  server: { proxy: { "/api": server, "/media": server } },
  // Under vitest the "browser" condition picks Svelte's client runtime instead of its server one.
  ...(process.env["VITEST"] ? { resolve: { conditions: ["browser"] } } : {}),
  test: {
    environment: "happy-dom",
    pool: "threads",
    include: ["tests/**/*.test.ts"],
    testTimeout: 60_000, // only what hangs: cryptography takes seconds on a busy machine
    restoreMocks: true,
    unstubGlobals: true,
  },
});
