import { expect, test } from "vitest";
import { decodeShortCode, encodeShortCode } from "../../src/base/shortCode";

/** Pairs computed by the server's function. */
const KNOWN = [
  ["1", "00000000001"],
  ["42", "0000000000g"],
  ["141402734592003", "000e9TPjzwx"],
  ["9000000000000000000", "Aiq5v2IOhhA"],
  ["9223372036854775807", "AzL8n0Y58m7"],
] as const;

test.each(KNOWN)("the id %s has the code %s", (id, code) => {
  expect(encodeShortCode(id)).toBe(code);
  expect(decodeShortCode(code)).toBe(id);
});

test("text that is not a code decodes to null", () => {
  for (const text of ["", "short", "0000000000-", "000000000010", "zzzzzzzzzzz", "00000000000"]) {
    expect(decodeShortCode(text)).toBeNull();
  }
});
