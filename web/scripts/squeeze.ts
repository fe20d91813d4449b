/** Leaves a brotli beside every text of the build: the server sends it as it is, and has not to squeeze it itself. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /\.(js|css|html|svg|json|webmanifest)$/;
const squeezed = promisify(brotliCompress);

export function squeeze(): Plugin {
  let folder = "dist";
  return {
    name: "tintype-squeeze",
    apply: (_, { command }) => command === "build" && process.env["VITEST"] === undefined,
    configResolved(config) {
      folder = config.build.outDir;
    },
    async closeBundle() {
      const names = await readdir(folder, { recursive: true });
      await Promise.all(
        names.filter((name) => TEXT.test(name)).map((name) => writeBeside(join(folder, name))),
      );
    },
  };
}

async function writeBeside(file: string): Promise<void> {
  const content = await readFile(file);
  const options = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } };
  await writeFile(`${file}.br`, await squeezed(content, options));
}
