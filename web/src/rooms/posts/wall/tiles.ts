/** A post as a wall shows it: less than the whole, so that a profile's first answer and later pages look alike. */
import type { Media, Post } from "../../../client";

export interface Tile {
  readonly post_id: string;
  readonly cover: Media | null;
  readonly media_count: number;
  readonly like_count: number | null;
  readonly comment_count: number;
  readonly is_pinned: boolean;
  readonly created_at: string;
}

export function tileOf(post: Post): Tile {
  const { post_id, media, like_count, comment_count, is_pinned, created_at } = post;
  return {
    post_id,
    cover: media[0] ?? null,
    media_count: media.length,
    like_count,
    comment_count,
    is_pinned,
    created_at,
  };
}

export const ACROSS = 3;
export type Hanging = "plain" | "large first" | "large last";

export interface Strip {
  readonly tiles: readonly Tile[];
  readonly hanging: Hanging;
  readonly key: string;
}

/** Tiles in strips of three; a salon hangs every second strip around one large picture, left and right in turn. */
export function stripsOf(tiles: readonly Tile[], isSalon = false): Strip[] {
  const strips: Strip[] = [];
  for (let start = 0; start < tiles.length; start += ACROSS) {
    const three = tiles.slice(start, start + ACROSS);
    strips.push({
      tiles: three,
      hanging: isSalon && three.length === ACROSS ? hangingOf(strips.length) : "plain",
      key: three[0]?.post_id ?? "",
    });
  }
  return strips;
}

function hangingOf(index: number): Hanging {
  if (index % 4 === 0) return "large first";
  return index % 4 === 2 ? "large last" : "plain";
}
