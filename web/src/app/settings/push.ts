/** This browser's subscription to pushes; the service worker shows them. */
import { t } from "../../base/i18n";
import { addBrowser, getPushKey } from "../../client/notifying";
import { explain } from "../../ui";

/** A browser whose worker is not there by then has none: its `ready` would keep one waiting for ever. */
const WORKER_PATIENCE_MS = 10_000;

export function mayPush(): boolean {
  return "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
}

/** This browser rings from now on; rejects with a DOMException where the person or the browser says no. */
export async function startPush(): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted")
    throw new DOMException("not allowed", "NotAllowedError");
  const registration = await worker();
  const applicationServerKey = bytesOf(await getPushKey());
  // One made under another key cannot be used, and stands in the way.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const made = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const { endpoint, keys } = made.toJSON();
  await addBrowser({
    endpoint: endpoint ?? made.endpoint,
    keys: { p256dh: keys?.["p256dh"] ?? "", auth: keys?.["auth"] ?? "" },
  });
}

/**
 * Why it did not work, and what to do: allow it, try elsewhere, or what the server said. A private window refuses
 * although its permission is given, so the error's name alone does not tell.
 */
export function explainPush(error: unknown): string {
  if (!(error instanceof DOMException)) return explain(error);
  return t(Notification.permission === "granted" ? "settings.pushUnreachable" : "settings.pushRefused");
}

function worker(): Promise<ServiceWorkerRegistration> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DOMException("no worker", "TimeoutError")), WORKER_PATIENCE_MS);
    void navigator.serviceWorker.ready.then((registration) => {
      clearTimeout(timer);
      resolve(registration);
    });
  });
}

export async function stopPush(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}
