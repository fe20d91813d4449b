/** This browser's subscription to pushes; the service worker shows them. */
import { addBrowser, getPushKey } from "../../client/notifying";

export function mayPush(): boolean {
  return "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
}

/** This browser rings from now on; rejects with a DOMException where the person or the browser says no. */
export async function startPush(): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted")
    throw new DOMException("not allowed", "NotAllowedError");
  const registration = await navigator.serviceWorker.ready;
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

export async function stopPush(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}
