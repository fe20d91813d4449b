/**
 * Every post this tab has seen, once each: the feed, a profile and a post's own page share one object,
 * so that a like given in one place is seen in all.
 */
import { t } from "../../base/i18n";
import { Toggle } from "../../base/toggle";
import { api, type Post } from "../../client";
import { explain, toasts } from "../../ui";

/** Enough for a long evening; beyond it the oldest are forgotten and simply loaded again. */
const MOST = 1_500;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A post on the shelf, with its like button's memory. */
class Shelved {
  readonly post: Mutable<Post>;
  readonly like: Toggle;

  constructor(loaded: Post) {
    const post = $state<Mutable<Post>>({ ...loaded });
    this.post = post;
    this.like = new Toggle(loaded.viewer_has_liked, {
      show: (on) => {
        post.viewer_has_liked = on;
        if (post.like_count !== null) post.like_count += on ? 1 : -1;
      },
      send: async (on) => {
        await (on ? api.like : api.unlike)(post.post_id);
      },
      failed: (wish, error) => {
        const facts = { reason: explain(error) };
        toasts.fail(t(wish ? "post.likeFailed" : "post.unlikeFailed", facts));
      },
    });
  }
}

export class Shelf {
  readonly #shelved = new Map<string, Shelved>();

  /** The one object for this post, brought up to date, except where a like is still on its way. */
  put(loaded: Post): Post {
    const known = this.#shelved.get(loaded.post_id);
    if (known === undefined) return this.#place(loaded);
    if (!known.like.isSettled) return known.post;
    known.like.adopt(loaded.viewer_has_liked);
    return Object.assign(known.post, loaded);
  }

  putAll(loaded: readonly Post[]): Post[] {
    return loaded.map((post) => this.put(post));
  }

  find(postId: string): Post | null {
    return this.#shelved.get(postId)?.post ?? null;
  }

  /** Shown at once; resolves when the server agrees or the screen has been rolled back. */
  async like(postId: string, on: boolean): Promise<void> {
    await this.#shelved.get(postId)?.like.set(on);
  }

  clear(): void {
    this.#shelved.clear();
  }

  #place(loaded: Post): Post {
    const fresh = new Shelved(loaded);
    this.#shelved.set(loaded.post_id, fresh);
    const [oldest] = this.#shelved.keys();
    if (this.#shelved.size > MOST && oldest !== undefined) this.#shelved.delete(oldest);
    return fresh.post;
  }
}

export const shelf = new Shelf();
