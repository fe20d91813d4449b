import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { serviceWorker } from "./scripts/worker";

/** Where the Python server listens while developing; `npm run dev` passes API and media through to it. */
const server = process.env["TINTYPE_SERVER"] ?? "http://127.0.0.1:8000";

/** The runtime, the shared layers, and the rooms whose parts appear on more than one page. */
const SHARED =
  /node_modules|src\/(base(?!\/i18n\/messages\/(?!core\/en))|client|ui(?!\/forms))\/|src\/rooms\/(feed|graph|posts\/[A-Za-z.]+$|accounts\/(session|index))/;

export default defineConfig({
  plugins: [svelte(), serviceWorker()],
  build: {
    target: "es2022",
    // The server's policy allows no data: URLs and no inline scripts, so everything is a file of its own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What most pages share travels as one file instead of seven: fewer requests, and gzip finds more to repeat.
          groups: [{ name: "core", test: SHARED, minShareCount: 2 }],
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
    restoreMocks: true,
    unstubGlobals: true,
  },
});
