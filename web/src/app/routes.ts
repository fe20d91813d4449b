/** Every address of the app and the page that answers it; each page but home is fetched when it is first asked for. */
import type { Route } from "../base/router";
import HomePage from "../rooms/feed/HomePage.svelte";

export const routes: readonly Route[] = [
  { pattern: "/", audience: "anyone", load: async () => ({ default: HomePage }) },
  {
    pattern: "/join",
    audience: "guests",
    words: ["accounts"],
    load: () => import("../rooms/accounts/JoinPage.svelte"),
  },
  {
    pattern: "/login",
    audience: "guests",
    words: ["accounts"],
    load: () => import("../rooms/accounts/LoginPage.svelte"),
  },
  {
    pattern: "/forgot-password",
    audience: "anyone",
    words: ["accounts"],
    load: () => import("../rooms/accounts/ForgotPage.svelte"),
  },
  {
    pattern: "/reset-password",
    audience: "anyone",
    words: ["accounts"],
    load: () => import("../rooms/accounts/ResetPage.svelte"),
  },
  {
    pattern: "/confirm-email",
    audience: "anyone",
    words: ["accounts"],
    load: () => import("../rooms/accounts/ConfirmPage.svelte"),
  },
  {
    pattern: "/create",
    audience: "members",
    words: ["create"],
    load: () => import("./pages/NewPostPage.svelte"),
  },
  {
    pattern: "/preferences",
    audience: "anyone",
    words: ["settings", "accounts"],
    load: () => import("./pages/PreferencesPage.svelte"),
  },
  {
    pattern: "/settings",
    audience: "members",
    words: ["settings", "accounts"],
    load: () => import("./settings/SettingsPage.svelte"),
  },
  {
    pattern: "/settings/:section",
    audience: "members",
    words: ["settings", "accounts", "create"],
    load: () => import("./settings/SettingsPage.svelte"),
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
