/** The pictures of the viewer: through a carousel, and on to the posts before and after it. */
import { api, type Media, type Post } from "../../../client";
import { postStore } from "../postStore.svelte";
import { type PostSequence, viewer } from "../viewerState.svelte";

export interface Picture {
  readonly key: string;
  readonly post: Post;
  readonly media: Media;
  readonly index: number;
}

export type Step = -1 | 1;
/** Ask for more posts while so few are left. */
const LOAD_AHEAD = 2;

export class ViewedPictures {
  current = $state.raw<Picture | null>(null);
  /** Null at the ends, and until the post beyond has loaded. */
  previous = $state.raw<Picture | null>(null);
  next = $state.raw<Picture | null>(null);
  readonly #sequence: PostSequence | null;

  constructor(post: Post, index: number) {
    this.#sequence = viewer.sequenceOf(post.post_id);
    this.#show(pictureOf(post, index));
  }

  /** Goes one picture on; returns whether there was one. */
  step(by: Step): boolean {
    const to = by === 1 ? this.next : this.previous;
    if (to !== null) this.#show(to);
    return to !== null;
  }

  #show(picture: Picture | null): void {
    this.current = picture;
    this.previous = picture && this.#findLoaded(picture, -1);
    this.next = picture && this.#findLoaded(picture, 1);
    if (picture === null) return;
    if (this.previous === null) void this.#load(picture, -1);
    if (this.next === null) void this.#load(picture, 1);
  }

  /** The picture beside, if its post is here already: then a swipe moves it in at once. */
  #findLoaded({ post, index }: Picture, by: Step): Picture | null {
    const beyond = this.#idBeyond(post.post_id, by);
    return pictureOf(post, index + by) ?? entering(beyond === undefined ? null : postStore.find(beyond), by);
  }

  /** Loads the post beyond the end of this one, and shows it as what comes next unless the viewer has moved on. */
  async #load(from: Picture, by: Step): Promise<void> {
    try {
      const ids = this.#sequence?.ids() ?? [];
      if (by === 1 && ids.indexOf(from.post.post_id) >= ids.length - LOAD_AHEAD)
        await this.#sequence?.loadMore?.();
      const id = this.#idBeyond(from.post.post_id, by);
      if (id === undefined) return;
      const found = entering(postStore.find(id) ?? postStore.put(await api.getPost(id)), by);
      if (this.current === from) this[by === 1 ? "next" : "previous"] = found;
    } catch {
      // Unreachable or gone: the way ends here, as at the end of the list.
    }
  }

  #idBeyond(postId: string, by: Step): string | undefined {
    const ids = this.#sequence?.ids() ?? [];
    const at = ids.indexOf(postId);
    return at < 0 ? undefined : ids[at + by];
  }
}

/** The first picture of a post that is entered from before, the last of one entered from behind. */
function entering(post: Post | null, by: Step): Picture | null {
  return post && pictureOf(post, by === 1 ? 0 : post.media.length - 1);
}

function pictureOf(post: Post, index: number): Picture | null {
  const media = post.media[index];
  return media ? { key: `${post.post_id}/${index}`, post, media, index } : null;
}
