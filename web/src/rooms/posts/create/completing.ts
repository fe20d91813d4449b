/** The word at the caret that can be completed, and the text with its completion; pure. */

export interface Begun {
  readonly kind: "@" | "#";
  readonly text: string;
  /** Where the word begins, at its sign. */
  readonly start: number;
  readonly end: number;
}

/** The mention or hashtag that ends at the caret, or null. */
export function begunAt(text: string, caret: number): Begun | null {
  const before = text.slice(0, caret);
  const match = /(?:^|[^\p{L}\p{N}_@#])([@#])([\p{L}\p{N}\p{M}_.]{1,60})$/u.exec(before);
  const [, kind, word] = match ?? [];
  if (word === undefined || (kind !== "@" && kind !== "#")) return null;
  return { kind, text: word, start: caret - word.length - 1, end: caret };
}

/** The text with the whole word, and where the caret then stands. */
export function complete(text: string, begun: Begun, word: string): { text: string; caret: number } {
  const after = text.slice(begun.end);
  const space = /^\s/.test(after) ? "" : " ";
  const head = `${text.slice(0, begun.start)}${begun.kind}${word}${space}`;
  return { text: head + after, caret: head.length + (space === "" ? 1 : 0) };
}
