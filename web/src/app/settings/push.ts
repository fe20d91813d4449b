/** This browser's subscription to pushes; the service worker shows them. */
import { t } from "../../base/i18n";
import { addBrowser, getPushKey } from "../../client/notifying";
import { explain } from "../../ui";

/** Where there is no worker, or no push service, a browser would keep one waiting for ever. */
const PATIENCE_MS = 20_000;

export function mayPush(): boolean {
  return "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
}

/** This browser rings from now on; rejects with a DOMException where the person or the browser says no. */
export async function startPush(): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted")
    throw new DOMException("not allowed", "NotAllowedError");
  const registration = await within(navigator.serviceWorker.ready);
  const applicationServerKey = bytesOf(await getPushKey());
  // One made under another key cannot be used, and stands in the way.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const subscribing = registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const made = await within(subscribing, (late) => void late.unsubscribe());
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

/** Rejects when it has not come by then; what comes later is handed to `undo`. */
function within<T>(promise: Promise<T>, undo: (late: T) => void = () => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new DOMException("too late", "TimeoutError"));
      promise.then(undo, () => {});
    }, PATIENCE_MS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
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
