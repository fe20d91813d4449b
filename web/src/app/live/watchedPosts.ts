/** Likes and comments of the posts on screen: the server is told which those are, and says when their counts change. */
import { announceComments } from "../../base/commentEvents";
import { randomId } from "../../base/random";
import { live, type Signals } from "../../live";
import { session } from "../../rooms/accounts";
import { postStore } from "../../rooms/posts";

type PostSignal = Signals["posts"];

/** How often the screen is looked at; scrolling does not have to be followed faster. */
const LOOK_MS = 2_000;
/** The server forgets after 90 seconds. */
const RENEW_MS = 60_000;
/** As many as the server takes. */
const MAX_WATCHED = 20;

export function watchPosts(): () => void {
  const device_id = randomId(); // Every tab has a screen of its own.
  let watched: readonly string[] = [];
  let renewed_ms = 0;
  /** Posts of which the server has told something since it was last asked: the answer may be older. */
  const told = new Set<string>();

  async function look(): Promise<void> {
    const shown = live.state.value === "online" ? postsOnScreen() : [];
    const isSame = shown.join() === watched.join();
    if (isSame && (shown.length === 0 || Date.now() - renewed_ms < RENEW_MS)) return;
    watched = shown;
    renewed_ms = Date.now();
    told.clear();
    try {
      const reply = await live.command("watch", { post_ids: shown, device_id });
      const signals = reply["posts"] as readonly PostSignal[];
      for (const signal of signals) if (!told.has(signal.post_id)) apply(signal);
    } catch {
      watched = []; // Asked again at the next look.
    }
  }
  const timer = setInterval(() => void look(), LOOK_MS);
  const unsubscribe = live.onSignal("posts", (signal) => {
    told.add(signal.post_id);
    apply(signal);
  });
  return () => {
    clearInterval(timer);
    unsubscribe();
  };
}

function apply({ post_id, like_count, comment_count, comments }: PostSignal): void {
  postStore.setCounts(post_id, { like_count, comment_count });
  if (comments.some(({ account_id }) => account_id !== session.account?.account_id))
    announceComments(post_id);
}

/** The posts of which something is in the window, by the articles that show them. */
function postsOnScreen(): string[] {
  if (document.visibilityState !== "visible") return [];
  const articles = document.querySelectorAll('article[aria-labelledby^="by-"]');
  const onScreen = [...articles].filter((article) => {
    const { top, bottom } = article.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  });
  const ids = onScreen.map((article) => article.getAttribute("aria-labelledby")?.slice("by-".length) ?? "");
  return [...new Set(ids)].slice(0, MAX_WATCHED);
}
