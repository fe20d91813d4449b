/** Every address of the app and the page that answers it; each page but home is fetched when it is first asked for. */
import type { Route } from "../base/router";
import HomePage from "../rooms/feed/HomePage.svelte";

export const routes: readonly Route[] = [
  { pattern: "/", audience: "anyone", load: async () => ({ default: HomePage }) },
  { pattern: "/join", audience: "guests", load: () => import("../rooms/accounts/JoinPage.svelte") },
  { pattern: "/login", audience: "guests", load: () => import("../rooms/accounts/LoginPage.svelte") },
  {
    pattern: "/create",
    audience: "members",
    words: ["create"],
    load: () => import("./pages/NewPostPage.svelte"),
  },
  {
    pattern: "/preferences",
    audience: "anyone",
    words: ["settings"],
    load: () => import("./pages/PreferencesPage.svelte"),
  },
  { pattern: "/@:username", audience: "members", load: () => import("./pages/ProfilePage.svelte") },
  {
    pattern: "/stories/new",
    audience: "members",
    words: ["stories", "create"],
    load: () => import("../rooms/stories/NewStoryPage.svelte"),
  },
  {
    pattern: "/stories/:accountId",
    audience: "members",
    words: ["stories"],
    isFullScreen: true,
    load: () => import("../rooms/stories/StoryPage.svelte"),
  },
  {
    pattern: "/highlights/:highlightId",
    audience: "members",
    words: ["stories"],
    isFullScreen: true,
    load: () => import("../rooms/stories/HighlightPage.svelte"),
  },
  {
    pattern: "/p/:code",
    audience: "members",
    words: ["comments", "posts"],
    load: () => import("./pages/PostPage.svelte"),
  },
];
