/** The explore wall. It outlives its page, so that going back finds the same pictures in the same place. */
import { Pages } from "../../base/pages.svelte";
import type { PostPage } from "../../client";
import { finding, type Order } from "../../client/finding";
import { session } from "../accounts";
import { shelf } from "../posts";
import { type Tile, tileOf } from "../posts/wall";

const PAGE = 24;

export function createExplore(): Pages<Tile> {
  return wall((cursor) => finding.getExplore(cursor, PAGE));
}

export function createTagWall(tag: string, order: Order): Pages<Tile> {
  return wall((cursor) => finding.getTagPosts(tag, order, cursor, PAGE));
}

export function createPlaceWall(placeId: string, order: Order): Pages<Tile> {
  return wall((cursor) => finding.getPlacePosts(placeId, order, cursor, PAGE));
}

function wall(fetch: (cursor: string | null) => Promise<PostPage>): Pages<Tile> {
  return new Pages<Tile>(
    async (cursor) => {
      const { posts, has_more, next_cursor } = await fetch(cursor);
      return { items: shelf.putAll(posts).map(tileOf), next: has_more ? next_cursor : null };
    },
    ({ post_id }) => post_id,
  );
}

let kept: Pages<Tile> | null = null;

/** The one that is on this tab's wall. */
export function findExplore(): Pages<Tile> {
  kept ??= createExplore();
  return kept;
}

session.whenChanged(() => {
  kept = null;
});
