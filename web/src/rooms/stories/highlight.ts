/** A highlight shown the way stories are: nothing to be seen first, nothing to answer. */
import type { Highlight, Story } from "../../client/stories";
import type { Sheaf } from "./tray.svelte";

export function sheafOfHighlight(highlight: Highlight): Sheaf {
  return {
    accountId: "",
    username: highlight.title,
    fullName: highlight.title,
    picture: highlight.cover_url,
    ...(highlight.viewer_is_author ? { highlight } : {}),
    stories: highlight.items.map(
      (item): Story => ({
        ...item,
        user_id: highlight.user_id,
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
