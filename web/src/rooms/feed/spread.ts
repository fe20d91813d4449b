/** Keeps posts of one author apart, as the server does on ranked pages; pure. */
import type { Post } from "../../client";

const MAX_IN_A_ROW = 2;

/** The posts in their order, except that nobody has more than two in a row while there are others. */
export function spread(posts: readonly Post[]): readonly Post[] {
  const placed: Post[] = [];
  const waiting: Post[] = [];
  for (const post of posts) {
    if (fits(placed, post)) placed.push(post);
    else waiting.push(post);
    for (let next = waiting.findIndex((each) => fits(placed, each)); next >= 0; ) {
      placed.push(...waiting.splice(next, 1));
      next = waiting.findIndex((each) => fits(placed, each));
    }
  }
  return [...placed, ...waiting];
}

function fits(placed: readonly Post[], { author }: Post): boolean {
  const last = placed.slice(-MAX_IN_A_ROW);
  return last.length < MAX_IN_A_ROW || last.some((post) => post.author.account_id !== author.account_id);
}
