/** While a video is being transcoded, reloads its post with growing delays until it can be played. */
import { api } from "../../../client";
import { postStore } from "../postStore.svelte";

const FIRST_MS = 3_000;
const MAX_MS = 60_000;

/** Polls until the returned function is called; each response updates the post wherever it is shown. */
export function pollUntilReady(postId: string): () => void {
  let isStopped = false;
  let delay_ms = FIRST_MS;
  let timer = setTimeout(poll, delay_ms);

  async function poll(): Promise<void> {
    if (document.visibilityState === "visible") {
      await api.getPost(postId).then(
        (post) => postStore.put(post),
        () => {},
      ); // The next poll may succeed.
    }
    delay_ms = Math.min(delay_ms * 1.5, MAX_MS);
    if (!isStopped) timer = setTimeout(poll, delay_ms);
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
