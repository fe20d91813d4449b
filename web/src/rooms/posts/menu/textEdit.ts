/** The texts of a post as they are edited, and as they are sent. Pure. */
export interface Described {
  readonly media_id: string;
  readonly alt_text: string;
}

/** Caption and descriptions without the space around them, each description with its picture. */
export function trimmedTexts(caption: string, media: readonly Described[], altTexts: readonly string[]) {
  return {
    caption: caption.trim(),
    media: media.map(({ media_id }, index) => ({ media_id, alt_text: (altTexts[index] ?? "").trim() })),
  };
}
