/** Subscribes this browser to Web Push; the service worker shows the notifications. */
import { t } from "../../base/i18n";
import { addSubscription, getPushKey } from "../../client/notificationSettings";
import { errorMessage } from "../../ui";

/** Without a service worker or push service some browsers never answer. */
const TIMEOUT_MS = 20_000;

export function supportsPush(): boolean {
  return "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
}

/** Subscribes; rejects with a DOMException when the user or the browser refuses. */
export async function subscribeToPush(): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted")
    throw new DOMException("not allowed", "NotAllowedError");
  const registration = await withTimeout(navigator.serviceWorker.ready);
  const applicationServerKey = bytesOf(await getPushKey());
  // A subscription made with another key is useless and prevents a new one.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const subscribing = registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const subscription = await withTimeout(subscribing, (late) => void late.unsubscribe());
  const { endpoint, keys } = subscription.toJSON();
  await addSubscription({
    endpoint: endpoint ?? subscription.endpoint,
    keys: { p256dh: keys?.["p256dh"] ?? "", auth: keys?.["auth"] ?? "" },
  });
}

/**
 * Why it failed and what to do about it. A private window refuses although its permission is granted, so the name of the
 * error is not enough.
 */
export function pushErrorMessage(error: unknown): string {
  if (!(error instanceof DOMException)) return errorMessage(error);
  return t(Notification.permission === "granted" ? "settings.pushUnreachable" : "settings.pushRefused");
}

/** Rejects after the timeout; a result that arrives later is passed to `undo`. */
function withTimeout<T>(promise: Promise<T>, undo: (late: T) => void = () => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new DOMException("timed out", "TimeoutError"));
      promise.then(undo, () => {});
    }, TIMEOUT_MS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

export async function unsubscribeFromPush(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}
