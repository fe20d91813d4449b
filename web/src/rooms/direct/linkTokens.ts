/** Finds the links in a message. They are shown as plain links: nothing is fetched from where they lead. */

export interface TextToken {
  readonly text: string;
  /** Null for plain text. */
  readonly href: string | null;
}

const LINK = /\b(?:https?:\/\/|www\.)[^\s<>"'`]+/giu;
/** Punctuation that ends a sentence, not a link. */
const TRAILING = /[.,;:!?…»”’"')\]}]+$/u;

export function linkTokens(text: string): TextToken[] {
  const tokens: TextToken[] = [];
  let end = 0;
  for (const match of text.matchAll(LINK)) {
    const link = trimmed(match[0]);
    const href = hrefOf(link);
    if (href === null) continue;
    if (match.index > end) tokens.push({ text: text.slice(end, match.index), href: null });
    tokens.push({ text: link, href });
    end = match.index + link.length;
  }
  if (end < text.length) tokens.push({ text: text.slice(end), href: null });
  return tokens;
}

/** Without the punctuation after it; a closing bracket stays where the link has its opening one. */
function trimmed(link: string): string {
  const cut = link.replace(TRAILING, "");
  return cut.includes("(") && link.charAt(cut.length) === ")" ? link.slice(0, cut.length + 1) : cut;
}

function hrefOf(link: string): string | null {
  try {
    return new URL(/^www\./i.test(link) ? `https://${link}` : link).href;
  } catch {
    return null;
  }
}
