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
    pattern: "/@:username",
    audience: "anyone",
    words: ["people"],
    load: () => import("./pages/ProfilePage.svelte"),
  },
  {
    pattern: "/@:username/followers",
    audience: "members",
    words: ["people"],
    load: () => import("../rooms/graph/CirclePage.svelte"),
  },
  {
    pattern: "/@:username/following",
    audience: "members",
    words: ["people"],
    load: () => import("../rooms/graph/CirclePage.svelte"),
  },
  {
    pattern: "/@:username/:tab",
    audience: "anyone",
    words: ["people"],
    load: () => import("./pages/ProfilePage.svelte"),
  },
  {
    pattern: "/archive",
    audience: "members",
    words: ["people"],
    load: () => import("./pages/ArchivePage.svelte"),
  },
  {
    pattern: "/saved",
    audience: "members",
    words: ["people"],
    load: () => import("../rooms/saves/SavedPage.svelte"),
  },
  {
    pattern: "/saved/:collection",
    audience: "members",
    words: ["people"],
    load: () => import("../rooms/saves/SavedPage.svelte"),
  },
  {
    pattern: "/requests",
    audience: "members",
    words: ["people"],
    load: () => import("../rooms/graph/RequestsPage.svelte"),
  },
  {
    pattern: "/suggestions",
    audience: "members",
    words: ["people"],
    load: () => import("../rooms/graph/SuggestionsPage.svelte"),
  },
  {
    pattern: "/search",
    audience: "members",
    words: ["finding", "people"],
    load: () => import("../rooms/search/SearchPage.svelte"),
  },
  {
    pattern: "/explore",
    audience: "members",
    words: ["finding", "people"],
    load: () => import("../rooms/search/ExplorePage.svelte"),
  },
  {
    pattern: "/tags/:tag",
    audience: "anyone",
    words: ["finding", "people"],
    load: () => import("../rooms/search/TagPage.svelte"),
  },
  {
    pattern: "/places/:place",
    audience: "anyone",
    words: ["finding", "people"],
    load: () => import("../rooms/search/PlacePage.svelte"),
  },
  {
    pattern: "/activity",
    audience: "members",
    words: ["activity", "people"],
    load: () => import("../rooms/notifications/ActivityPage.svelte"),
  },
  {
    pattern: "/decisions",
    audience: "members",
    words: ["moderation"],
    load: () => import("../rooms/moderation/DecisionsPage.svelte"),
  },
  {
    pattern: "/moderation",
    audience: "members",
    words: ["moderation"],
    load: () => import("../rooms/moderation/QueuePage.svelte"),
  },
  {
    pattern: "/moderation/log",
    audience: "members",
    words: ["moderation"],
    load: () => import("../rooms/moderation/LogPage.svelte"),
  },
  {
    pattern: "/moderation/cases/:caseId",
    audience: "members",
    words: ["moderation"],
    load: () => import("../rooms/moderation/CasePage.svelte"),
  },
  { pattern: "/p/:code", audience: "members", load: () => import("../rooms/posts/PostPage.svelte") },
];
