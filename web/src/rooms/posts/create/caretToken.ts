/** The mention or hashtag being typed at the caret, and its completion; pure. */

export interface CaretToken {
  readonly kind: "@" | "#";
  readonly text: string;
  /** The position of the @ or #. */
  readonly start: number;
  readonly end: number;
}

/** The mention or hashtag that ends at the caret, or null. */
export function tokenAtCaret(text: string, caret: number): CaretToken | null {
  const before = text.slice(0, caret);
  const match = /(?:^|[^\p{L}\p{N}_@#])([@#])([\p{L}\p{N}\p{M}_.]{1,60})$/u.exec(before);
  const [, kind, word] = match ?? [];
  if (word === undefined || (kind !== "@" && kind !== "#")) return null;
  return { kind, text: word, start: caret - word.length - 1, end: caret };
}

/** The text with the token completed, and the caret position after it. */
export function complete(text: string, token: CaretToken, word: string): { text: string; caret: number } {
  const after = text.slice(token.end);
  const space = /^\s/.test(after) ? "" : " ";
  const head = `${text.slice(0, token.start)}${token.kind}${word}${space}`;
  return { text: head + after, caret: head.length + (space === "" ? 1 : 0) };
}
