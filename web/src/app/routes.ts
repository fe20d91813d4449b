/**
 * All routes of the app but home (homeRoute.ts); every page is a lazily loaded chunk. The table is one too: with the file names of
 * all pages and of what they share it weighs 4 KB, which the first screen of home does not wait for.
 */
import type { Route } from "../base/router";

/** Pages of several routes. */
const loadSettings = () => import("./settings/SettingsPage.svelte");
const loadProfile = () => import("./pages/ProfilePage.svelte");
const loadFollowList = () => import("../rooms/graph/FollowListPage.svelte");
const loadSaved = () => import("../rooms/saves/SavedPage.svelte");
const loadMessages = () => import("../rooms/direct/MessagesPage.svelte");

export const routes: readonly Route[] = [
  {
    pattern: "/join",
    audience: "guests",
    namespaces: ["accounts"],
    load: () => import("../rooms/accounts/JoinPage.svelte"),
  },
  {
    pattern: "/login",
    audience: "guests",
    namespaces: ["accounts"],
    load: () => import("../rooms/accounts/LoginPage.svelte"),
  },
  {
    pattern: "/forgot-password",
    audience: "anyone",
    namespaces: ["accounts"],
    load: () => import("../rooms/accounts/ForgotPasswordPage.svelte"),
  },
  {
    pattern: "/reset-password",
    audience: "anyone",
    namespaces: ["accounts"],
    load: () => import("../rooms/accounts/ResetPasswordPage.svelte"),
  },
  {
    pattern: "/confirm-email",
    audience: "anyone",
    namespaces: ["accounts"],
    load: () => import("../rooms/accounts/ConfirmEmailPage.svelte"),
  },
  {
    pattern: "/welcome",
    audience: "members",
    namespaces: ["accounts", "people", "settings", "create"],
    load: () => import("./pages/FirstStepsPage.svelte"),
  },
  {
    pattern: "/create",
    isWide: true,
    audience: "members",
    namespaces: ["create"],
    load: () => import("../rooms/posts/create/CreatePage.svelte"),
  },
  {
    pattern: "/preferences",
    audience: "anyone",
    namespaces: ["settings", "accounts"],
    load: () => import("./pages/PreferencesPage.svelte"),
  },
  {
    pattern: "/settings",
    audience: "members",
    namespaces: ["settings", "accounts"],
    load: loadSettings,
  },
  {
    pattern: "/settings/:section",
    audience: "members",
    namespaces: ["settings", "accounts", "create", "imports", "direct"],
    load: loadSettings,
  },
  {
    pattern: "/@:username",
    isWide: true,
    audience: "anyone",
    namespaces: ["people"],
    load: loadProfile,
  },
  {
    pattern: "/@:username/followers",
    audience: "members",
    namespaces: ["people"],
    load: loadFollowList,
  },
  {
    pattern: "/@:username/following",
    audience: "members",
    namespaces: ["people"],
    load: loadFollowList,
  },
  {
    pattern: "/@:username/:tab",
    isWide: true,
    audience: "anyone",
    namespaces: ["people"],
    load: loadProfile,
  },
  {
    pattern: "/scheduled",
    audience: "members",
    namespaces: ["create"],
    load: () => import("../rooms/posts/scheduled/ScheduledPage.svelte"),
  },
  {
    pattern: "/archive",
    isWide: true,
    audience: "members",
    namespaces: ["people"],
    load: () => import("./pages/ArchivePage.svelte"),
  },
  {
    pattern: "/saved",
    isWide: true,
    audience: "members",
    namespaces: ["people"],
    load: loadSaved,
  },
  {
    pattern: "/saved/:collection",
    isWide: true,
    audience: "members",
    namespaces: ["people"],
    load: loadSaved,
  },
  {
    pattern: "/requests",
    audience: "members",
    namespaces: ["people"],
    load: () => import("../rooms/graph/FollowRequestsPage.svelte"),
  },
  {
    pattern: "/suggestions",
    audience: "members",
    namespaces: ["people"],
    load: () => import("../rooms/graph/SuggestionsPage.svelte"),
  },
  {
    pattern: "/search",
    isWide: true,
    audience: "members",
    namespaces: ["search", "people"],
    load: () => import("../rooms/search/SearchPage.svelte"),
  },
  {
    pattern: "/explore",
    isWide: true,
    audience: "members",
    namespaces: ["search", "people"],
    load: () => import("../rooms/search/ExplorePage.svelte"),
  },
  {
    pattern: "/tags/:tag",
    isWide: true,
    audience: "anyone",
    namespaces: ["search", "people"],
    load: () => import("../rooms/search/TagPage.svelte"),
  },
  {
    pattern: "/places/:place",
    isWide: true,
    audience: "anyone",
    namespaces: ["search", "people"],
    load: () => import("../rooms/search/PlacePage.svelte"),
  },
  {
    pattern: "/activity",
    audience: "members",
    namespaces: ["activity", "people"],
    load: () => import("../rooms/notifications/ActivityPage.svelte"),
  },
  {
    pattern: "/messages",
    isWide: true,
    audience: "members",
    namespaces: ["direct"],
    load: loadMessages,
  },
  {
    pattern: "/messages/:view",
    isWide: true,
    audience: "members",
    namespaces: ["direct"],
    load: loadMessages,
  },
  {
    pattern: "/decisions",
    audience: "members",
    namespaces: ["moderation"],
    load: () => import("../rooms/moderation/DecisionsPage.svelte"),
  },
  {
    pattern: "/moderation",
    audience: "members",
    isForModerators: true,
    namespaces: ["moderation"],
    load: () => import("../rooms/moderation/QueuePage.svelte"),
  },
  {
    pattern: "/moderation/log",
    audience: "members",
    isForModerators: true,
    namespaces: ["moderation"],
    load: () => import("../rooms/moderation/LogPage.svelte"),
  },
  {
    pattern: "/moderation/cases/:caseId",
    audience: "members",
    isForModerators: true,
    namespaces: ["moderation"],
    load: () => import("../rooms/moderation/CasePage.svelte"),
  },
  {
    pattern: "/stories/new",
    audience: "members",
    namespaces: ["stories", "create"],
    load: () => import("../rooms/stories/NewStoryPage.svelte"),
  },
  {
    pattern: "/stories/:accountId",
    audience: "members",
    namespaces: ["stories"],
    isFullScreen: true,
    load: () => import("../rooms/stories/StoryPage.svelte"),
  },
  {
    pattern: "/highlights/:highlightId",
    audience: "members",
    namespaces: ["stories"],
    isFullScreen: true,
    load: () => import("../rooms/stories/HighlightPage.svelte"),
  },
  {
    pattern: "/p/:code",
    isWide: true,
    audience: "anyone",
    namespaces: ["comments", "posts"],
    load: () => import("./pages/PostPage.svelte"),
  },
];
