/** Entry point: applies the preferences, then loads the page and the session in parallel. */
import { mount } from "svelte";
import App from "./app/App.svelte";
import { homeRoute } from "./app/homeRoute";
import { firstPaint, watchFirstPaint } from "./base/afterFirstPaint";
import { cacheDisplayFont } from "./base/displayFont";
import { formatAgo, formatCount, language, negotiateLocale } from "./base/i18n";
import { applyTheme, prefs } from "./base/prefs.svelte";
import { router } from "./base/router";
import { session } from "./rooms/accounts";
import "./ui/base.css";
import "./bootstrap/bootstrap.css";

$effect.root(() => {
  $effect(() => applyTheme(prefs.theme));
  $effect(
    () => void language.use(prefs.locale === "auto" ? negotiateLocale(navigator.languages) : prefs.locale),
  );
});

language.tick();
const loadRoutes = async () => (await import("./app/routes")).routes;
router.start([homeRoute], loadRoutes);
void session.load();

function mountApp(): void {
  const target = document.getElementById("app");
  if (target === null) throw new Error("index.html has no #app element");
  mount(App, { target });
  document.getElementById("app-skeleton")?.remove();
  watchFirstPaint(location.pathname === "/" && session.isLikelyMember);
  setTimeout(warmUpIntl);
}

/** The first use of Intl loads locale data for some 20 ms: do it before posts render, not while they do. */
function warmUpIntl(): void {
  formatAgo(language.now.toISOString());
  formatCount(1);
}

// Separate tasks: parsing the program, mounting the page and rendering posts in one task would block input on a slow phone.
setTimeout(mountApp);

// An account read from the offline cache is loaded again once there is a connection.
addEventListener("online", () => session.isFromCache && void session.load());

// Whoever began at home finds the other routes loaded; if that fails, the first navigation tries again and says so.
void firstPaint.then(loadRoutes).catch(() => {});

void firstPaint.then(cacheDisplayFont).catch(() => {}); // If that fails, the next visit tries again.

// After the first paint: the service worker caches the app and viewed images for offline visits.
if (import.meta.env.PROD && "serviceWorker" in navigator)
  void firstPaint.then(() => navigator.serviceWorker.register("/sw.js")).catch(() => {});
