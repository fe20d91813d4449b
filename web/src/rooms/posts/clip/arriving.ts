/** A clip is still being made: the post is asked for again, more and more rarely, until it can be played. */
import { api } from "../../../client";
import { shelf } from "../shelf.svelte";

const FIRST_MS = 3_000;
const SLOWEST_MS = 60_000;

/** Looks until it is stopped; what comes replaces the post on every page that shows it. */
export function awaitClip(postId: string): () => void {
  let isOver = false;
  let pause_ms = FIRST_MS;
  let timer = setTimeout(look, pause_ms);

  async function look(): Promise<void> {
    if (document.visibilityState === "visible") {
      await api.getPost(postId).then(
        (post) => shelf.put(post),
        () => {},
      ); // The next look may succeed.
    }
    pause_ms = Math.min(pause_ms * 1.5, SLOWEST_MS);
    if (!isOver) timer = setTimeout(look, pause_ms);
  }

  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
