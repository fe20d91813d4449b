/** Safety numbers: the same sixty digits on both sides if, and only if, both see the same devices with the same keys. */
import { sha512 } from "@noble/hashes/sha2.js";
import { encodeText, join } from "./bytes";
import type { TreeLeaf } from "./group";

const GROUPS_OF_EACH = 6;
const DIGITS = 5;
const ROUNDS = 5_200;

/** Two halves of thirty digits, one for each person, the smaller first: it does not matter who computes it. */
export function safetyNumber(leaves: readonly TreeLeaf[], one: string, other: string): string {
  return [one, other]
    .map((each) => half(leaves, each))
    .sort()
    .join(" ");
}

function half(leaves: readonly TreeLeaf[], accountId: string): string {
  const keys = leaves
    .filter((each) => each.accountId === accountId)
    .sort((a, b) => (BigInt(a.deviceId) < BigInt(b.deviceId) ? -1 : 1))
    .map((each) => join(encodeText(`${each.deviceId}:`), each.signatureKey));
  const seed = join(encodeText(`tintype safety number 1:${accountId}:`), ...keys);
  let hash: Uint8Array = seed;
  // As Signal does: a search for keys with similar digits costs thousands of times more.
  for (let round = 0; round < ROUNDS; round += 1) hash = sha512(join(hash, seed));
  return Array.from({ length: GROUPS_OF_EACH }, (_, index) =>
    digits(hash.subarray(index * 5, index * 5 + 5)),
  ).join(" ");
}

function digits(bytes: Uint8Array): string {
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}
