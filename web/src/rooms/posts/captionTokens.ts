/** Splits a caption into text, mentions, hashtags and URLs. Never HTML. */

export type CaptionToken =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "mention"; readonly text: string; readonly username: string }
  | { readonly kind: "hashtag"; readonly text: string; readonly tag: string }
  | { readonly kind: "url"; readonly text: string; readonly url: string };

const LINKABLE =
  /(?<address>https?:\/\/[^\s<>"]+[^\s<>"'.,;:!?)\]])|(?<![\w.@])@(?<username>[a-z0-9_](?:[a-z0-9_]|\.(?=[a-z0-9_])){0,29})|(?<![\p{L}\p{M}\p{N}_&#])[#＃](?<tag>(?=[\p{M}\p{N}_]*\p{L})[\p{L}\p{M}\p{N}_]{1,100})/giu;

/** A cheap test first: most captions have nothing to link, and a phone takes milliseconds to compile the expression above. */
const HINT = /[@#＃]|https?:/i;

export function tokenizeCaption(caption: string): CaptionToken[] {
  if (!HINT.test(caption)) return caption === "" ? [] : [{ kind: "text", text: caption }];
  const tokens: CaptionToken[] = [];
  let end = 0;
  for (const found of caption.matchAll(LINKABLE)) {
    if (found.index > end) tokens.push({ kind: "text", text: caption.slice(end, found.index) });
    const { address, username, tag } = found.groups ?? {};
    if (address !== undefined) tokens.push({ kind: "url", text: address, url: address });
    else if (username !== undefined)
      tokens.push({ kind: "mention", text: found[0], username: username.toLowerCase() });
    else if (tag !== undefined) tokens.push({ kind: "hashtag", text: found[0], tag: tag.toLowerCase() });
    end = found.index + found[0].length;
  }
  if (end < caption.length) tokens.push({ kind: "text", text: caption.slice(end) });
  return tokens;
}
