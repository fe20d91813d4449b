/** Connects the package to the browser: storage, the socket, the API, and the other tabs. */
import { openObjectStore } from "../base/indexedDb";
import { randomId } from "../base/random";
import { singleTimer, withTabLock } from "../base/tabLock";
import { type Schemas, send } from "../client";
import { ChangeSender, type StoredChange } from "./changeSender";
import { DeviceCounters, type StoredDevice } from "./deviceCounters";
import type { LinkEvents } from "./link";
import { LiveClient } from "./liveClient";
import type { SessionDependencies, TabLink } from "./liveSession";
import { MessageQueue, type QueueNews } from "./messageQueue";
import { type Credentials, openConnection } from "./mqttConnection";
import { MqttLink } from "./mqttLink";
import { PresenceStore } from "./presence";
import { canShare, SharedLink } from "./sharedLink";
import type { SyncPage } from "./updateLog";
import { uploadFile } from "./uploadFile";

interface StoredPosition {
  /** The account. */
  readonly key: string;
  readonly seq: number;
}

const SYNC_PAGE = 500;

const positions = openObjectStore<StoredPosition>("livePositions");
const devices = openObjectStore<StoredDevice>("liveDevices");
const messages = openObjectStore<StoredChange>("liveMessages");
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("tintype.messages") : null;

const counters = new DeviceCounters({
  store: devices,
  newId: randomId,
  fetchCounter: async (threadId, device_id) => {
    const path = `/direct/threads/${encodeURIComponent(threadId)}`;
    return (await send<Schemas["ThreadView"]>("GET", path, { query: { device_id } })).last_counter ?? 0;
  },
});

export const live = new LiveClient(prepare);
export const presence = new PresenceStore(live);
export const mutations = new MessageQueue({
  store: messages,
  sender: new ChangeSender({
    store: messages,
    counters,
    send: (kind, payload, localId) => live.command(kind, payload, localId),
    upload: (file, entry, onProgress) => uploadFile(messages, file, entry, onProgress),
  }),
  withLock: (work) => withTabLock("tintype.messages", work),
  schedule: singleTimer(),
  newId: randomId,
  now: Date.now,
  announce: (news) => channel?.postMessage(news),
});

/** Begins for this account; what this device holds of others is deleted. */
export async function startLive(accountId: string): Promise<void> {
  await forgetLive((owner) => owner !== accountId);
  // First: what is written while the connection is being made is stored, and sent over HTTP.
  await mutations.setOwner(accountId);
  await live.start(accountId);
}

/** Ends: connection, polling and sending. What is stored stays. */
export async function stopLive(): Promise<void> {
  live.stop();
  await mutations.suspend();
}

/** Ends the connection of these accounts, and deletes what this device holds of them: positions, device ids, unsent messages. */
export async function forgetLive(isForgotten: (accountId: string) => boolean): Promise<void> {
  if (live.accountId !== null && isForgotten(live.accountId)) await stopLive();
  for (const store of [positions, devices]) {
    const gone = (await store.all()).map(({ key }) => key).filter(isForgotten);
    if (gone.length > 0) await store.remove(...gone);
  }
  await mutations.forget(isForgotten);
}

async function prepare(accountId: string): Promise<SessionDependencies> {
  const [stored, { deviceId }] = await Promise.all([positions.get(accountId), counters.device(accountId)]);
  return {
    position: stored?.seq ?? null,
    readLog: (since) => send<SyncPage>("GET", "/sync", { query: { since, limit: SYNC_PAGE } }),
    remember: (seq) => void positions.put({ key: accountId, seq }),
    openLink: (events) => openLink(accountId, deviceId, events),
  };
}

type SessionLinkEvents = LinkEvents & { readonly onConnected: () => Promise<boolean> };

function openLink(accountId: string, deviceId: string, events: SessionLinkEvents): TabLink {
  // Two connections with the same client id would evict each other: without a leader each tab is a device of its own.
  const device = canShare() ? deviceId : randomId();
  const connect = (linkEvents: LinkEvents): MqttLink =>
    new MqttLink({
      ...linkEvents,
      onConnected: events.onConnected,
      getCredentials: () => send<Credentials>("POST", "/realtime/token"),
      connect: (credentials, onMessage) =>
        openConnection({ url: socketUrl(), credentials, device, onMessage }),
    });
  if (canShare()) return new SharedLink({ ...events, name: `tintype.live.${accountId}`, connect });
  return Object.assign(connect(events), { isLeader: true, share: () => {} });
}

function socketUrl(): string {
  const url = new URL("/mqtt", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

function wake(): void {
  live.wake();
  void mutations.drain();
}

channel?.addEventListener("message", ({ data }: MessageEvent<QueueNews>) => void mutations.hear(data));
addEventListener("online", wake);
addEventListener("pageshow", ({ persisted }) => persisted && wake());
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && wake());
live.state.subscribe((state) => state === "online" && void mutations.drain());
