/** The paginated posts of explore, a tag, a place or the words of captions. Explore outlives its page, so that going back finds the same posts. */
import type { PagedList } from "../../base/pagedList.svelte";
import { type Order, search } from "../../client/search";
import { session } from "../accounts";
import { createTileList, type Tile } from "../posts/grid";

const PAGE_SIZE = 24;

export function createTagList(tag: string, order: Order): PagedList<Tile> {
  return createTileList((cursor) => search.getTagPosts(tag, order, cursor, PAGE_SIZE));
}

export function createPlaceList(placeId: string, order: Order): PagedList<Tile> {
  return createTileList((cursor) => search.getPlacePosts(placeId, order, cursor, PAGE_SIZE));
}

/** The public posts whose captions have these words. */
export function createCaptionList(words: string): PagedList<Tile> {
  return createTileList((cursor) => search.findPosts(words, cursor, PAGE_SIZE));
}

let exploreList: PagedList<Tile> | null = null;

/** The explore list of this tab. */
export function getExploreList(): PagedList<Tile> {
  exploreList ??= createTileList((cursor) => search.getExplore(cursor, PAGE_SIZE));
  return exploreList;
}

session.onChange(() => {
  exploreList = null;
});
