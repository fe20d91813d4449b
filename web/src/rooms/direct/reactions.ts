/** The reactions that are offered; any other emoji can be typed. */
export const QUICK_REACTIONS = ["❤️", "😂", "😮", "😢", "🔥", "👏", "👍", "🙏"] as const;

export interface ReactionCount {
  readonly emoji: string;
  readonly count: number;
  readonly isOwn: boolean;
}

/** Reactions by their emoji, in the order in which each was given first. */
export function countReactions(
  reactions: readonly { readonly account_id: string; readonly emoji: string }[],
  viewerId: string | null,
): ReactionCount[] {
  const counts = new Map<string, ReactionCount>();
  for (const { account_id, emoji } of reactions) {
    const known = counts.get(emoji);
    const isOwn = (known?.isOwn ?? false) || account_id === viewerId;
    counts.set(emoji, { emoji, count: (known?.count ?? 0) + 1, isOwn });
  }
  return [...counts.values()];
}

const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Emoji}\uFE0F|\p{Regional_Indicator}{2}|[0-9#*]\uFE0F?\u20E3)/u;

/** The first emoji of what was typed, or null. */
export function firstEmoji(text: string): string | null {
  const [first] = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.trim());
  return first !== undefined && EMOJI.test(first.segment) ? first.segment : null;
}
