// Makes src/rooms/posts/places/land.json: the coastlines of the world as an SVG path in degrees, from land-110m.json of the npm package
// world-atlas (ISC), which is made of Natural Earth's (public domain). Run it to bring the map up to date.
// node scripts/worldMap.mjs PATH/TO/land-110m.json

import { readFileSync, writeFileSync } from "node:fs";

/** @typedef {[number, number]} Point */
/** @typedef {{ type: "Polygon", arcs: number[][] } | { type: "MultiPolygon", arcs: number[][][] }} Geometry */

const OUT = new URL("../src/rooms/posts/places/land.json", import.meta.url);
const DIGITS = 1;
/** @type {{ transform: { scale: Point, translate: Point }, arcs: Point[][], objects: { land: { geometries: Geometry[] } } }} */
const topology = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const { scale, translate } = topology.transform;

/** @type {Point[][]} */
const arcs = topology.arcs.map((arc) => {
  let [x, y] = [0, 0];
  return arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
  });
});

/** A ring is made of arcs; a negative number is the complement of one that runs backwards.
 * @param {number[]} ring @returns {Point[]} */
function points(ring) {
  return ring.flatMap((number) => (number < 0 ? [...(arcs[~number] ?? [])].reverse() : (arcs[number] ?? [])));
}

/** @param {number} value */
const round = (value) => Number(value.toFixed(DIGITS));

/** The parts of a ring between its jumps from 180 degrees east to west and back; the last goes on in the first.
 * @param {Point[]} ring @returns {Point[][]} */
function split(ring) {
  /** @type {Point[][]} */
  const parts = [[]];
  for (const point of ring) {
    const last = parts.at(-1)?.at(-1);
    if (last !== undefined && Math.abs(point[0] - last[0]) > 180) parts.push([]);
    parts.at(-1)?.push(point);
  }
  if (parts.length > 2) parts[0] = [...(parts.pop() ?? []), ...(parts[0] ?? [])];
  return parts;
}

/** @param {Point[]} part */
function path(part) {
  const rounded = part.map(([lon, lat]) => /** @type {Point} */ ([round(lon), round(-lat)]));
  const distinct = rounded.filter(
    ([x, y], at) => at === 0 || x !== rounded[at - 1]?.[0] || y !== rounded[at - 1]?.[1],
  );
  const [first, ...others] = distinct;
  if (first === undefined || others.length < 3) return "";
  let [x, y] = first;
  const steps = others.map(([toX, toY]) => {
    const step = `l${round(toX - x)} ${round(toY - y)}`;
    [x, y] = [toX, toY];
    return step;
  });
  const text = `M${first.join(" ")}${steps.join("")}z`;
  return text.replace(/(?<!\d)0\./g, ".").replaceAll(" -", "-");
}

const polygons = topology.objects.land.geometries.flatMap((geometry) =>
  geometry.type === "MultiPolygon" ? geometry.arcs : [geometry.arcs],
);
const land = polygons.flatMap((rings) => rings.flatMap((ring) => split(points(ring)).map(path))).join("");
writeFileSync(OUT, `${JSON.stringify({ land }, null, 2)}\n`);
process.stdout.write(`${land.length} characters\n`);
