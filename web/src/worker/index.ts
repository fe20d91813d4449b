/**
 * The service worker: the app opens without a connection, and the pictures seen are still there. What the API
 * answered is kept by the app itself (src/offline), under the account it belongs to.
 */
import { isPicture, showPicture } from "./pictures";
import { listenForPushes } from "./push";
import { discardOldShells, isShellFile, keepShell, showPage, showShellFile } from "./shell";

declare const self: ServiceWorkerGlobalScope;

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(discardOldShells().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin || url.pathname.startsWith("/api/")) return;
  if (isPicture(request, url)) event.respondWith(showPicture(request, (work) => event.waitUntil(work)));
  else if (isShellFile(url)) event.respondWith(showShellFile(request));
  else if (request.mode === "navigate" && !url.pathname.startsWith("/media/"))
    event.respondWith(showPage(request));
});

listenForPushes(self);
