/** The post of a post page: from the post store at once, then from the server, or offline from the cache. */
import { api, isNotFound, type Post } from "../../client";
import { isUnreachable, offline } from "../../offline";
import { postStore } from "../../rooms/posts";

export class ViewedPost {
  post = $state.raw<Post | null>(null);
  failure = $state.raw<unknown>(null);
  readonly #postId: string | null;

  constructor(postId: string | null) {
    this.#postId = postId;
    this.post = postId === null ? null : postStore.find(postId);
  }

  async load(): Promise<void> {
    const id = this.#postId;
    if (id === null) return;
    this.failure = null;
    try {
      this.post = postStore.put(await api.getPost(id));
      offline.store(`post:${id}`, $state.snapshot(this.post));
    } catch (error) {
      if (isUnreachable(error)) this.post ??= await readCached(id);
      if (this.post === null || !isUnreachable(error)) this.failure = error;
      if (isNotFound(error)) await this.#forget(id);
    }
  }

  /** The post is gone: it leaves every list and this device. */
  async #forget(id: string): Promise<void> {
    await readCached(id); // Only of a post in the store it is known which files are its own.
    this.post = null;
    postStore.remove(({ post_id }) => post_id === id);
  }
}

async function readCached(id: string): Promise<Post | null> {
  const cached = await offline.read<Post>(`post:${id}`);
  const found =
    cached ?? (await offline.read<readonly Post[]>("feed"))?.find(({ post_id }) => post_id === id);
  return found ? postStore.put(found) : null;
}
