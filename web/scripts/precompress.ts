/** Vite plugin: writes a brotli-compressed copy beside every text file of the build, which the server sends as it is. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /\.(js|css|html|svg|json|webmanifest)$/;
const compress = promisify(brotliCompress);

export function precompress(): Plugin {
  let folder = "dist";
  return {
    name: "tintype-precompress",
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
  await writeFile(`${file}.br`, await compress(content, options));
}
