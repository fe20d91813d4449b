/** Vite plugin: inlines the bootstrap script (src/bootstrap) into index.html; the server allows it in the CSP by its hash. */
import { build, type Plugin } from "vite";

const AFTER = '<meta charset="utf-8" />';

export function inlineBootstrap(): Plugin {
  return {
    name: "tintype-inline-bootstrap",
    apply: (_, { command }) => command === "build" && process.env["VITEST"] === undefined,
    transformIndexHtml: {
      order: "post",
      // Before the style sheets: a script after them would wait for them.
      handler: async (page) => page.replace(AFTER, `${AFTER}\n    <script>${await bundle()}</script>`),
    },
  };
}

async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    build: {
      write: false,
      target: "es2022",
      rolldownOptions: {
        input: "src/bootstrap/index.ts",
        output: { format: "iife", codeSplitting: false },
      },
    },
  });
  const [chunk] = Array.isArray(built) ? (built[0]?.output ?? []) : "output" in built ? built.output : [];
  if (chunk?.type !== "chunk") throw new Error("The bootstrap script was not built.");
  return chunk.code.trim();
}
