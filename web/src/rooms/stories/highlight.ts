/** Converts a highlight to a story reel, so that the same player shows it: everything seen, no replies. */
import type { Highlight, Story } from "../../client/stories";
import type { StoryReel } from "./tray.svelte";

export function reelOfHighlight(highlight: Highlight): StoryReel {
  return {
    accountId: "",
    username: highlight.title,
    fullName: highlight.title,
    picture: highlight.cover_url,
    ...(highlight.viewer_is_author ? { highlight } : {}),
    stories: highlight.items.map(
      (item): Story => ({
        ...item,
        account_id: highlight.account_id,
        expires_at: "",
        ttl_remaining: 0,
        seen: true,
        reply_enabled: false,
        viewer_reaction: null,
        viewer_is_author: false,
        is_hidden: false,
        view_count: null,
        reaction_count: null,
      }),
    ),
  };
}
