/** The @mention being typed at the caret; pure. */

export interface MentionToken {
  /** The position of the @. */
  readonly start: number;
  readonly end: number;
  /** What has been typed after the @. */
  readonly query: string;
}

const MENTION = /(?:^|[^\w.@])@([\p{L}\p{N}_.]{1,30})$/u;

export function mentionAtCaret(text: string, caret: number): MentionToken | null {
  const query = MENTION.exec(text.slice(0, caret))?.[1];
  return query === undefined ? null : { start: caret - query.length - 1, end: caret, query };
}

/** The text with the token replaced by the username, and the caret position after it. */
export function complete(
  text: string,
  token: MentionToken,
  username: string,
): { text: string; caret: number } {
  const head = `${text.slice(0, token.start)}@${username} `;
  return { text: head + text.slice(token.end).trimStart(), caret: head.length };
}
