/** The layers of the app, as on the server: checked by reading the imports. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

const SRC = join(import.meta.dirname, "../src");
/** A layer may import only lower ones; rooms of the same level may not import each other. */
const LEVELS: Readonly<Record<string, number>> = {
  base: 0,
  client: 0,
  ui: 1,
  live: 1.4,
  offline: 1.5,
  /** The service worker is a separate program. */
  worker: 1.5,
  /** The inline script of index.html, too. */
  bootstrap: 1.5,
  "rooms/accounts": 2,
  "rooms/graph": 3,
  "rooms/media": 3,
  "rooms/posts": 4,
  "rooms/comments": 5,
  "rooms/stories": 5,
  "rooms/saves": 5,
  "rooms/search": 5,
  "rooms/direct": 5,
  "rooms/moderation": 5,
  "rooms/notifications": 5,
  "rooms/feed": 6,
  app: 7,
};

function layerOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "rooms" ? `rooms/${second}` : first;
}

/** A room's entry point, or that of a part which only later pages need. */
function isEntryPoint(path: string): boolean {
  return existsSync(join(SRC, path, "index.ts")) || /^rooms\/\w+\/lazy$/.test(path);
}

function imports(): { from: string; to: string }[] {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(ts|svelte)$/.test(name),
  );
  return files.flatMap((from) => {
    const text = readFileSync(join(SRC, from), "utf8");
    const found = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)];
    return found.map(([, target = ""]) => ({
      from,
      to: relative(SRC, normalize(join(SRC, dirname(from), target))),
    }));
  });
}

const crossLayer = imports().filter(
  ({ from, to }) => layerOf(from) !== layerOf(to) && !from.startsWith("main."),
);

test("imports point to lower layers", () => {
  const upward = crossLayer.filter(
    ({ from, to }) => (LEVELS[layerOf(to)] ?? 99) >= (LEVELS[layerOf(from)] ?? -1),
  );
  // The two lowest layers may not import each other either, so an equal level counts as upward.
  expect(upward).toEqual([]);
});

test("other layers import a room through its entry points, or a lazily loaded page or dialog of it", () => {
  const bypassing = crossLayer.filter(
    ({ to }) => to.startsWith("rooms/") && !isEntryPoint(to) && !/(Page|Dialog)\.svelte$/.test(to),
  );
  expect(bypassing).toEqual([]);
});

test("a component has at most 120 lines", () => {
  const components = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".svelte"),
  );
  const long = components.filter((name) => readFileSync(join(SRC, name), "utf8").split("\n").length > 121);
  expect(long).toEqual([]);
});

test("hover styles are only for devices that hover: on touch screens they would stick after a tap", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(svelte|css)$/.test(name),
  );
  const sticky = files.filter((name) => {
    const text = readFileSync(join(SRC, name), "utf8");
    return text.replaceAll(/@media \(hover: hover\) \{(?:[^{}]*\{[^{}]*\})+\s*\}/g, "").includes(":hover");
  });
  expect(sticky).toEqual([]);
});
