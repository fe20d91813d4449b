/** Who may know whom: the same direction as on the server, held by reading the imports. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

const SRC = join(import.meta.dirname, "../src");
/** Lower may not import higher; rooms on one level are strangers. */
const LEVELS: Readonly<Record<string, number>> = {
  base: 0,
  client: 0,
  ui: 1,
  offline: 1.5,
  /** The service worker is a program of its own. */
  worker: 1.5,
  /** The script in the page, too. */
  early: 1.5,
  "rooms/accounts": 2,
  "rooms/graph": 3,
  "rooms/media": 3,
  "rooms/posts": 4,
  "rooms/comments": 5,
  "rooms/stories": 5,
  "rooms/saves": 5,
  "rooms/search": 5,
  "rooms/messages": 5,
  "rooms/moderation": 5,
  "rooms/notifications": 5,
  "rooms/feed": 6,
  app: 7,
};

function layerOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "rooms" ? `rooms/${second}` : first;
}

/** A room's own door, or that of a part of it that only later pages need. */
function isDoor(path: string): boolean {
  return existsSync(join(SRC, path, "index.ts")) || /^rooms\/\w+\/later$/.test(path);
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

const crossing = imports().filter(
  ({ from, to }) => layerOf(from) !== layerOf(to) && !from.startsWith("main."),
);

test("imports lead downward", () => {
  const upward = crossing.filter(
    ({ from, to }) => (LEVELS[layerOf(to)] ?? 99) >= (LEVELS[layerOf(from)] ?? -1),
  );
  // The two lowest may not know each other either, so an equal level counts as upward.
  expect(upward).toEqual([]);
});

test("a room is entered by its door, or by a page or dialog that is fetched when it is asked for", () => {
  const sneaking = crossing.filter(
    ({ to }) => to.startsWith("rooms/") && !isDoor(to) && !/(Page|Dialog)\.svelte$/.test(to),
  );
  expect(sneaking).toEqual([]);
});

test("a component fits on a screen or two", () => {
  const components = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".svelte"),
  );
  const long = components.filter((name) => readFileSync(join(SRC, name), "utf8").split("\n").length > 121);
  expect(long).toEqual([]);
});
