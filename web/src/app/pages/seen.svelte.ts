/** A post to be looked at: from the shelf at once, from the server as it is now, or as it was last seen here. */
import { api, type Post } from "../../client";
import { isUnreachable, offline } from "../../offline";
import { shelf } from "../../rooms/posts";

export class Seen {
  post = $state.raw<Post | null>(null);
  failure = $state.raw<unknown>(null);
  readonly #postId: string | null;

  constructor(postId: string | null) {
    this.#postId = postId;
    this.post = postId === null ? null : shelf.find(postId);
  }

  async load(): Promise<void> {
    const id = this.#postId;
    if (id === null) return;
    this.failure = null;
    try {
      this.post = shelf.put(await api.getPost(id));
      offline.keep(`post:${id}`, $state.snapshot(this.post));
    } catch (error) {
      if (isUnreachable(error)) this.post ??= await findKept(id);
      if (this.post === null || !isUnreachable(error)) this.failure = error;
    }
  }
}

async function findKept(id: string): Promise<Post | null> {
  const single = await offline.find<Post>(`post:${id}`);
  const kept = single ?? (await offline.find<readonly Post[]>("feed"))?.find(({ post_id }) => post_id === id);
  return kept ? shelf.put(kept) : null;
}
