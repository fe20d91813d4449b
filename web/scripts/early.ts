/** Puts the early script (src/early) into the page itself; the server names it in its policy by its hash. */
import { build, type Plugin } from "vite";

const AFTER = '<meta charset="utf-8" />';

export function earlyScript(): Plugin {
  return {
    name: "tintype-early-script",
    apply: (_, { command }) => command === "build" && process.env["VITEST"] === undefined,
    transformIndexHtml: {
      order: "post",
      // Before the style sheets: a script behind them would wait for them.
      handler: async (page) => page.replace(AFTER, `${AFTER}\n    <script>${await program()}</script>`),
    },
  };
}

async function program(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    build: {
      write: false,
      target: "es2022",
      rolldownOptions: {
        input: "src/early/index.ts",
        output: { format: "iife", codeSplitting: false },
      },
    },
  });
  const [chunk] = Array.isArray(built) ? (built[0]?.output ?? []) : "output" in built ? built.output : [];
  if (chunk?.type !== "chunk") throw new Error("The early script has lost its program.");
  return chunk.code.trim();
}
