/** Short codes of ids, as the server writes them: eleven letters and digits whose order is the ids' order. */

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BigInt(ALPHABET.length);
const LENGTH = 11;
const LARGEST_ID = 2n ** 63n - 1n;

/** The code of an id; ids are decimal strings, because a number would lose their last digits. */
export function encodeShort(id: string): string {
  let rest = BigInt(id);
  let code = "";
  while (code.length < LENGTH) {
    code = ALPHABET.charAt(Number(rest % BASE)) + code;
    rest /= BASE;
  }
  return code;
}

/** The id behind a code, or null when it is none. */
export function decodeShort(code: string): string | null {
  if (code.length !== LENGTH) return null;
  let id = 0n;
  for (const letter of code) {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) return null;
    id = id * BASE + BigInt(value);
  }
  return id > 0n && id <= LARGEST_ID ? String(id) : null;
}
