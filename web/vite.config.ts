import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { earlyScript } from "./scripts/early.ts";
import { squeeze } from "./scripts/squeeze.ts";
import { serviceWorker } from "./scripts/worker.ts";

/** Where the Python server listens while developing; `npm run dev` passes API and media through to it. */
const server = process.env["TINTYPE_SERVER"] ?? "http://127.0.0.1:8000";

/** What the chunker tells about a module. */
interface Modules {
  getModuleInfo(id: string): { readonly importers: readonly string[] } | null;
}

const known = new Map<string, boolean>();

/** Whether the first screen needs it: a chain of plain imports leads there from the entry. */
function isFirst(id: string, modules: Modules): boolean {
  const found = known.get(id);
  if (found !== undefined) return found;
  known.set(id, false); // Imports may go round in a circle.
  const answer =
    /src\/main\.svelte\.ts$/.test(id) ||
    (modules.getModuleInfo(id)?.importers ?? []).some((importer) => isFirst(importer, modules));
  known.set(id, answer);
  return answer;
}

export default defineConfig({
  plugins: [svelte(), earlyScript(), serviceWorker(), squeeze()],
  build: {
    target: "es2022",
    // The server's policy allows no data: URLs and no inline scripts, so everything but the early script is a file of its own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What the first screen shares with later ones is one file instead of many: fewer requests, and gzip finds more to repeat.
          // What only later pages share stays out of it.
          groups: [{ name: (id, modules) => (isFirst(id, modules) ? "core" : null), minShareCount: 2 }],
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
