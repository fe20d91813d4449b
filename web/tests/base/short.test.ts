import { expect, test } from "vitest";
import { decodeShort, encodeShort } from "../../src/base/short";

/** Pairs written by the server's own function. */
const KNOWN = [
  ["1", "00000000001"],
  ["42", "0000000000g"],
  ["141402734592003", "000e9TPjzwx"],
  ["9000000000000000000", "Aiq5v2IOhhA"],
  ["9223372036854775807", "AzL8n0Y58m7"],
] as const;

test.each(KNOWN)("the id %s has the code %s", (id, code) => {
  expect(encodeShort(id)).toBe(code);
  expect(decodeShort(code)).toBe(id);
});

test("what is not a code is nobody's", () => {
  for (const text of ["", "short", "0000000000-", "000000000010", "zzzzzzzzzzz", "00000000000"]) {
    expect(decodeShort(text)).toBeNull();
  }
});
