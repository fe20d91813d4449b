/** Vite plugin: inlines the bootstrap script (src/bootstrap) into index.html; the server allows it in the CSP by its hash. */
import { build, type Plugin, type Rolldown } from "vite";

const AFTER = '<meta charset="utf-8" />';

export function inlineBootstrap(): Plugin {
  return {
    name: "tintype-inline-bootstrap",
    apply: (_, { command }) => command === "build" && process.env["VITEST"] === undefined,
    transformIndexHtml: {
      order: "post",
      // Before the style sheets: a script after them would wait for them.
      handler: async (page, { bundle }) =>
        page.replace(AFTER, `${AFTER}\n    <script>${await buildScript(routesFile(bundle ?? {}))}</script>`),
    },
  };
}

/** The chunk with the table of routes, which the script preloads on every page but home. */
function routesFile(bundle: Rolldown.OutputBundle): string {
  const found = Object.values(bundle).find(
    (output) => output.type === "chunk" && output.facadeModuleId?.endsWith("/src/app/routes.ts"),
  );
  if (found === undefined) throw new Error("The table of routes is not a chunk of its own: has it moved?");
  return `/${found.fileName}`;
}

async function buildScript(routes: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    define: { ROUTES_FILE: JSON.stringify(routes) },
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
