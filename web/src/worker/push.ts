/** Web Push: shows notifications while the app is closed. */
import { type PushPayload, pushTarget, pushText } from "./pushText";

export function listenForPushes(scope: ServiceWorkerGlobalScope): void {
  scope.addEventListener("push", (event) => {
    const payload = event.data?.json() as PushPayload;
    const shown = scope.registration.showNotification("Tintype", {
      body: pushText(payload, scope.navigator.languages),
      icon: "/icons/plate-192.png",
      // A newer notification about the same thing replaces the older one.
      tag: `${payload.kind}:${payload.thread_id ?? payload.post_id ?? payload.username ?? ""}`,
      data: pushTarget(payload),
    });
    event.waitUntil(shown);
  });
  scope.addEventListener("notificationclick", (event) => {
    event.notification.close();
    event.waitUntil(show(scope, String(event.notification.data)));
  });
}

/** Navigates an open window to the path, or opens a new one. */
async function show(scope: ServiceWorkerGlobalScope, path: string): Promise<void> {
  const [open] = await scope.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (open === undefined) await scope.clients.openWindow(path);
  else {
    await open.focus();
    await open.navigate(path).catch(() => scope.clients.openWindow(path));
  }
}
