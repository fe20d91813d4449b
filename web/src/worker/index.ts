/**
 * The service worker: the app starts and shows viewed images without a connection. API responses are cached by the app
 * itself (src/offline), per account.
 */

import {
  deleteOldShells,
  isShellFile,
  precacheShell,
  respondWithPage,
  respondWithShellFile,
} from "./appShell";
import { isImage, respondWithImage } from "./imageCache";
import { listenForPushes } from "./push";
import { receiveShare, SHARE_PATH } from "./shareTarget";

declare const self: ServiceWorkerGlobalScope;

self.addEventListener("install", (event) => {
  event.waitUntil(precacheShell().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(deleteOldShells().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method === "POST" && url.origin === location.origin && url.pathname === SHARE_PATH)
    return event.respondWith(receiveShare(request));
  if (request.method !== "GET" || url.origin !== location.origin || url.pathname.startsWith("/api/")) return;
  if (isImage(request, url)) event.respondWith(respondWithImage(request, (work) => event.waitUntil(work)));
  else if (isShellFile(url)) event.respondWith(respondWithShellFile(request));
  else if (request.mode === "navigate" && !url.pathname.startsWith("/media/"))
    event.respondWith(respondWithPage(request));
});

listenForPushes(self);
