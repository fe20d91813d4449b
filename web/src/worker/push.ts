/** Pushes: what the server tells while the app is closed. */
import { addressOf, type Told, wordingOf } from "./wording";

export function listenForPushes(scope: ServiceWorkerGlobalScope): void {
  scope.addEventListener("push", (event) => {
    const told = event.data?.json() as Told;
    const shown = scope.registration.showNotification("Tintype", {
      body: wordingOf(told, scope.navigator.languages),
      icon: "/icons/plate-192.png",
      // One line about the same thing replaces the one before.
      tag: `${told.kind}:${told.post_id ?? told.username ?? ""}`,
      data: addressOf(told),
    });
    event.waitUntil(shown);
  });
  scope.addEventListener("notificationclick", (event) => {
    event.notification.close();
    event.waitUntil(show(scope, String(event.notification.data)));
  });
}

/** A window that is open goes there; otherwise a new one does. */
async function show(scope: ServiceWorkerGlobalScope, path: string): Promise<void> {
  const [open] = await scope.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (open === undefined) await scope.clients.openWindow(path);
  else {
    await open.focus();
    await open.navigate(path).catch(() => scope.clients.openWindow(path));
  }
}
