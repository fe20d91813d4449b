/** A caption as pieces: plain text, people mentioned, hashtags, and web addresses. Never HTML. */

export type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "person"; readonly text: string; readonly username: string }
  | { readonly kind: "tag"; readonly text: string; readonly tag: string }
  | { readonly kind: "address"; readonly text: string; readonly url: string };

const LINKED =
  /(?<address>https?:\/\/[^\s<>"]+[^\s<>"'.,;:!?)\]])|(?<![\w.@])@(?<username>[a-z0-9_](?:[a-z0-9_]|\.(?=[a-z0-9_])){0,29})|(?<![\p{L}\p{M}\p{N}_&#])[#＃](?<tag>(?=[\p{M}\p{N}_]*\p{L})[\p{L}\p{M}\p{N}_]{1,100})/giu;

/** Most captions have nothing to link, and the expression above takes a phone some milliseconds to make ready. */
const HINT = /[@#＃]|https?:/i;

export function captionPieces(caption: string): Piece[] {
  if (!HINT.test(caption)) return caption === "" ? [] : [{ kind: "text", text: caption }];
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of caption.matchAll(LINKED)) {
    if (found.index > end) pieces.push({ kind: "text", text: caption.slice(end, found.index) });
    const { address, username, tag } = found.groups ?? {};
    if (address !== undefined) pieces.push({ kind: "address", text: address, url: address });
    else if (username !== undefined)
      pieces.push({ kind: "person", text: found[0], username: username.toLowerCase() });
    else if (tag !== undefined) pieces.push({ kind: "tag", text: found[0], tag: tag.toLowerCase() });
    end = found.index + found[0].length;
  }
  if (end < caption.length) pieces.push({ kind: "text", text: caption.slice(end) });
  return pieces;
}
