/** Starts the app: preferences first, then the page and the session at the same time. */
import { mount } from "svelte";
import App from "./app/App.svelte";
import { routes } from "./app/routes";
import { language, suitLocale } from "./base/i18n";
import { applyTheme, prefs } from "./base/prefs.svelte";
import { router } from "./base/router";
import { session } from "./rooms/accounts";
import "./ui/base.css";

$effect.root(() => {
  $effect(() => applyTheme(prefs.theme));
  $effect(() => void language.use(prefs.locale === "auto" ? suitLocale(navigator.languages) : prefs.locale));
});

language.tick();
router.start(routes);
void session.load();

const target = document.getElementById("app");
if (target === null) throw new Error("index.html has lost its #app element");
mount(App, { target });

// Whoever was only remembered is asked for as soon as there is somebody to ask.
addEventListener("online", () => session.isRemembered && void session.load());

// After the first screen: the worker keeps the app and the pictures seen for visits without a connection.
if (import.meta.env.PROD && "serviceWorker" in navigator)
  addEventListener("load", () => void navigator.serviceWorker.register("/sw.js").catch(() => {}));
