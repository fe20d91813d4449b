/** What the full-screen viewer shows, and which posts come before and after it. The viewer itself loads on first use. */
import { router } from "../../base/router";
import type { Post } from "../../client";

/** Posts in the order of a page: the feed, a profile, a search. */
export interface PostSequence {
  readonly ids: () => readonly string[];
  /** Loads the posts that follow the last one. */
  readonly loadMore?: () => Promise<void>;
}

interface Target {
  readonly post: Post;
  readonly index: number;
}

class ViewerState {
  target = $state.raw<Target | null>(null);
  readonly #sequences = new Set<PostSequence>();

  /** Shows one picture of a post over everything; going back closes it. */
  open(post: Post, index: number): void {
    this.target = { post, index };
    router.openLayer(() => {
      this.target = null;
    });
  }

  close(): void {
    if (this.target !== null) router.back();
  }

  /** Announces the order of a page's posts until the returned function is called; made for `$effect`. */
  addSequence(sequence: PostSequence): () => void {
    this.#sequences.add(sequence);
    return () => void this.#sequences.delete(sequence);
  }

  /** The sequence that contains the post; of several, that of the page shown last. */
  sequenceOf(postId: string): PostSequence | null {
    const found = [...this.#sequences].filter(({ ids }) => ids().includes(postId));
    return found.at(-1) ?? null;
  }
}

export const viewer = new ViewerState();
