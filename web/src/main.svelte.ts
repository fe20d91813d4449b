/** Starts the app: preferences first, then the page and the session at the same time. */
import { mount } from "svelte";
import App from "./app/App.svelte";
import { routes } from "./app/routes";
import { calm, expectCalm } from "./base/calm";
import { formatAgo, formatCount, language, suitLocale } from "./base/i18n";
import { applyTheme, prefs } from "./base/prefs.svelte";
import { router } from "./base/router";
import { session } from "./rooms/accounts";
import "./ui/base.css";
import "./early/early.css";

$effect.root(() => {
  $effect(() => applyTheme(prefs.theme));
  $effect(() => void language.use(prefs.locale === "auto" ? suitLocale(navigator.languages) : prefs.locale));
});

language.tick();
router.start(routes);
void session.load();

function show(): void {
  const target = document.getElementById("app");
  if (target === null) throw new Error("index.html has lost its #app element");
  mount(App, { target });
  document.getElementById("early")?.remove();
  expectCalm(location.pathname === "/" && session.isLikelyMember);
  setTimeout(makeWordsReady);
}

/** The browser reads its tables of languages at the first question, for some 20 ms: asked before posts come, not among them. */
function makeWordsReady(): void {
  formatAgo(language.now.toISOString());
  formatCount(1);
}

// Tasks of their own: reading the program, building the page and filling it at once would keep a slow phone from answering a finger.
setTimeout(show);

// Whoever was only remembered is asked for as soon as there is somebody to ask.
addEventListener("online", () => session.isRemembered && void session.load());

// After the first screen: the worker keeps the app and the pictures seen for visits without a connection.
if (import.meta.env.PROD && "serviceWorker" in navigator)
  void calm.then(() => navigator.serviceWorker.register("/sw.js")).catch(() => {});
