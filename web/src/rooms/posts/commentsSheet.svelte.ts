/**
 * The comments of a post as a sheet over the page, on phones, and which post's field is to have the focus once it is there.
 * The sheet itself loads on first use.
 */
import { paths, router } from "../../base/router";
import type { Post } from "../../client";

class CommentsSheet {
  post = $state.raw<Post | null>(null);
  #focused: string | null = null;

  /** Shows the comments: in a sheet on phones, elsewhere beside the picture. With `focus` one can write at once. */
  open(post: Post, { focus = false } = {}): void {
    this.#focused = focus ? post.post_id : null;
    if (!matchMedia("(max-width: 44.99rem)").matches)
      return void router.openOverlay(paths.post(post.post_id));
    this.post = post;
    router.openLayer(() => {
      this.post = null;
    });
  }

  close(): void {
    if (this.post !== null) router.back();
  }

  /** Whether the field of this post is to have the focus; true once. */
  takeFocus(postId: string | null): boolean {
    const isWanted = postId !== null && this.#focused === postId;
    this.#focused = null;
    return isWanted;
  }
}

export const commentsSheet = new CommentsSheet();
