/** The tiles of post grids: a subset of a post's fields, so that profile responses and later pages look alike. */
import { nextCursor, PagedList } from "../../../base/pagedList.svelte";
import type { Media, Post, PostPage } from "../../../client";
import { postStore } from "../postStore.svelte";

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

/** A paginated list of tiles; the posts of each page also go into the post store. */
export function createTileList(fetch: (cursor: string | null) => Promise<PostPage>): PagedList<Tile> {
  return new PagedList<Tile>(
    async (cursor) => {
      const page = await fetch(cursor);
      return { items: postStore.putAll(page.posts).map(tileOf), next: nextCursor(page) };
    },
    ({ post_id }) => post_id,
  );
}

export type RowLayout = "plain" | "large first" | "large last";

export interface GridRow {
  readonly tiles: readonly Tile[];
  readonly layout: RowLayout;
  readonly key: string;
}

const FEWEST_COLUMNS = 3;
/** From so many pixels on, a window has one column more. */
const COLUMN_STEPS_PX = [992, 1440, 1760];

/** Three columns on phones, up to six in wide windows. */
export function columnsFor(windowWidth_px: number): number {
  return FEWEST_COLUMNS + COLUMN_STEPS_PX.filter((step) => windowWidth_px >= step).length;
}

/** Rows of tiles; in a mosaic every second row is built around one large tile (two by two), left and right in turn. */
export function rowsOf(tiles: readonly Tile[], columns: number, isMosaic = false): GridRow[] {
  const rows: GridRow[] = [];
  for (let start = 0; start < tiles.length; ) {
    const wanted = isMosaic ? layoutOf(rows.length) : "plain";
    const length = wanted === "plain" ? columns : 1 + 2 * (columns - 2);
    const isFull = start + length <= tiles.length;
    const taken = tiles.slice(start, start + (isFull ? length : columns));
    rows.push({ tiles: taken, layout: isFull ? wanted : "plain", key: taken[0]?.post_id ?? "" });
    start += taken.length;
  }
  return rows;
}

function layoutOf(index: number): RowLayout {
  if (index % 4 === 0) return "large first";
  return index % 4 === 2 ? "large last" : "plain";
}
