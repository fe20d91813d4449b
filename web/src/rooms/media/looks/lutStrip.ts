/**
 * Reads the lookup table (LUT) of a look from its strip: a PNG of 33 slices of 33×33, side by side.
 *
 * The PNG is decoded here instead of by an image element or a canvas: those may convert colours, and some browsers add noise
 * to what a page reads back from a canvas. The preview would then differ from what the server renders.
 */
import { SIZE } from "./fold";

const WIDTH = SIZE * SIZE;
const STRIDE = WIDTH * 3;
const SIGNATURE = 0x89504e47;
const HEADER = 0x49484452;
const DATA = 0x49444154;
/** IHDR: 8 bits, RGB, deflate, adaptive filtering, not interlaced. */
const KIND = [8, 2, 0, 0, 0];

/** The table: three bytes per colour, red varying fastest. */
export async function loadStrip(address: string): Promise<Uint8Array> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`no strip at ${address}: ${answer.status}`);
  return readStrip(new Uint8Array(await answer.arrayBuffer()));
}

export async function readStrip(png: Uint8Array): Promise<Uint8Array> {
  const rows = unfilter(await inflate(packed(png)));
  const table = new Uint8Array(SIZE ** 3 * 3);
  for (let green = 0; green < SIZE; green++)
    for (let blue = 0; blue < SIZE; blue++) {
      const from = green * STRIDE + blue * SIZE * 3;
      table.set(rows.subarray(from, from + SIZE * 3), (blue * SIZE + green) * SIZE * 3);
    }
  return table;
}

/** The deflated pixels, after checking the header. */
function packed(png: Uint8Array): Blob {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  if (png.length < 33 || view.getUint32(0) !== SIGNATURE) throw new Error("a strip is a PNG");
  for (let at = 8; at + 12 <= png.length; ) {
    const length = view.getUint32(at);
    const kind = view.getUint32(at + 4);
    const body = png.slice(at + 8, at + 8 + length);
    if (kind === HEADER) checkHeader(body);
    if (kind === DATA) parts.push(body);
    at += length + 12;
  }
  return new Blob(parts);
}

function checkHeader(header: Uint8Array): void {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const isOurs =
    view.getUint32(0) === WIDTH &&
    view.getUint32(4) === SIZE &&
    KIND.every((value, at) => header[8 + at] === value);
  if (!isOurs) throw new Error("a strip is 1089 wide, 33 high, and has three bytes a pixel");
}

async function inflate(deflated: Blob): Promise<Uint8Array> {
  const stream = deflated.stream().pipeThrough(new DecompressionStream("deflate"));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  if (raw.length !== (STRIDE + 1) * SIZE) throw new Error("the strip is damaged");
  return raw;
}

/** Undoes the PNG row filters: each row is stored as differences, and its first byte names the filter. */
function unfilter(raw: Uint8Array): Uint8Array {
  const rows = new Uint8Array(STRIDE * SIZE);
  for (let row = 0; row < SIZE; row++) {
    const kind = raw[row * (STRIDE + 1)] ?? 0;
    for (let column = 0; column < STRIDE; column++) {
      const at = row * STRIDE + column;
      const left = column >= 3 ? (rows[at - 3] ?? 0) : 0;
      const up = row > 0 ? (rows[at - STRIDE] ?? 0) : 0;
      const corner = row > 0 && column >= 3 ? (rows[at - STRIDE - 3] ?? 0) : 0;
      rows[at] = (raw[row * (STRIDE + 1) + 1 + column] ?? 0) + predict(kind, left, up, corner);
    }
  }
  return rows;
}

function predict(kind: number, left: number, up: number, corner: number): number {
  if (kind === 1) return left;
  if (kind === 2) return up;
  if (kind === 3) return (left + up) >> 1;
  return kind === 4 ? paeth(left, up, corner) : 0;
}

function paeth(left: number, up: number, corner: number): number {
  const [byLeft, byUp, byCorner] = [
    Math.abs(up - corner),
    Math.abs(left - corner),
    Math.abs(left + up - 2 * corner),
  ];
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}
