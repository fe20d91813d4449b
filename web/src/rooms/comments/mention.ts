/** The name being typed after an @, where the caret stands; pure. */

export interface Typed {
  /** Where the @ stands. */
  readonly start: number;
  readonly end: number;
  readonly words: string;
}

const TYPING = /(?:^|[^\w.@])@([\p{L}\p{N}_.]{1,30})$/u;

export function typedName(text: string, caret: number): Typed | null {
  const found = TYPING.exec(text.slice(0, caret));
  const words = found?.[1];
  return words === undefined ? null : { start: caret - words.length - 1, end: caret, words };
}

/** The text with the name in place of what was typed, and where the caret belongs then. */
export function complete(text: string, typed: Typed, username: string): { text: string; caret: number } {
  const head = `${text.slice(0, typed.start)}@${username} `;
  return { text: head + text.slice(typed.end).trimStart(), caret: head.length };
}
