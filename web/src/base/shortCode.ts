/** Short codes of post ids, as in permalinks: 11 base-62 digits that sort like the ids. The server has the same function. */

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BigInt(ALPHABET.length);
const LENGTH = 11;
const LARGEST_ID = 2n ** 63n - 1n;

/** The code of an id. Ids are decimal strings because 64 bits do not fit a JavaScript number. */
export function encodeShortCode(id: string): string {
  let rest = BigInt(id);
  let code = "";
  while (code.length < LENGTH) {
    code = ALPHABET.charAt(Number(rest % BASE)) + code;
    rest /= BASE;
  }
  return code;
}

/** The id a code stands for, or null when the text is not a valid code. */
export function decodeShortCode(code: string): string | null {
  if (code.length !== LENGTH) return null;
  let id = 0n;
  for (const letter of code) {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) return null;
    id = id * BASE + BigInt(value);
  }
  return id > 0n && id <= LARGEST_ID ? String(id) : null;
}
