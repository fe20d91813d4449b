/** Encryption on this device, for whoever is signed in: loaded and set up when it is first needed. */
import { setWaiting } from "../../base/encryptionKeys";
import { t } from "../../base/i18n";
import { singleTimer } from "../../base/tabLock";
import { Problem } from "../../client";
import { csrfHeaders } from "../../client/csrf";
import { API, send } from "../../client/http";
import { problemFrom } from "../../client/problem";
import { session } from "../accounts";
import type { EncryptionClient, KeyStore, Outbox, OutgoingMessage, Transport } from "./encryption";

let opened: { readonly accountId: string; readonly client: Promise<EncryptionClient> } | null = null;
let kept: { readonly accountId: string; readonly store: KeyStore; readonly outbox: Outbox } | null = null;

/** This device's side of encrypted conversations; registers the device the first time. */
export function getEncryption(): Promise<EncryptionClient> {
  const accountId = session.account?.account_id ?? "";
  if (opened?.accountId === accountId) return opened.client;
  const client = open(accountId);
  opened = { accountId, client };
  client.catch(() => {
    opened = null; // The next call tries again.
  });
  return client;
}

/** The messages that are on their way; they are stored and shown also while the server is away. */
export async function getOutbox(): Promise<Outbox> {
  return (await keep(session.account?.account_id ?? "")).outbox;
}

/** The server has forgotten this device, and so has the device: the next call begins anew. */
export function forgetEncryption(): void {
  opened = null;
  kept = null;
}

/** Whether this browser can do it at all: Web Crypto works on HTTPS and localhost alone. */
export function canEncrypt(): boolean {
  return "indexedDB" in globalThis && globalThis.crypto?.subtle !== undefined && "locks" in navigator;
}

async function open(accountId: string): Promise<EncryptionClient> {
  const [{ EncryptionClient }, { store }] = await Promise.all([import("./encryption"), keep(accountId)]);
  return EncryptionClient.open(store, transport, deviceName());
}

async function keep(accountId: string): Promise<NonNullable<typeof kept>> {
  const { IndexedDbKeyStore, Outbox } = await import("./encryption");
  if (kept?.accountId === accountId) return kept;
  const store = new IndexedDbKeyStore(accountId);
  const outbox = new Outbox({
    store,
    send: deliver,
    schedule: singleTimer(),
    onWaiting: (isWaiting) => setWaiting(accountId, isWaiting),
  });
  addEventListener("online", () => void outbox.drain());
  kept = { accountId, store, outbox };
  return kept;
}

async function deliver({ threadId, text, file, replyTo, localId }: OutgoingMessage): Promise<void> {
  const client = await getEncryption();
  if (file === null) {
    await client.send(threadId, { type: "text", text, ...(replyTo === null ? {} : { replyTo }) }, localId);
    return;
  }
  const plain = new Uint8Array(await file.arrayBuffer());
  await client.sendFile(threadId, plain, { type: file.type, name: file.name }, text, localId);
}

const transport: Transport = {
  call: (method, path, options) => send(method, path, options),
  upload: async (path, bytes) =>
    JSON.parse(await (await request("POST", path, bytes)).text()) as { attachment_id: string },
  download: async (path) => new Uint8Array(await (await request("GET", path)).arrayBuffer()),
};

async function request(method: "GET" | "POST", path: string, bytes?: Uint8Array): Promise<Response> {
  const type = { "Content-Type": "application/octet-stream" };
  const response = await fetch(API + path, {
    method,
    credentials: "same-origin",
    headers: { ...csrfHeaders(), ...(bytes === undefined ? {} : type) },
    ...(bytes === undefined ? {} : { body: Uint8Array.from(bytes) }),
  }).catch(() => {
    throw new Problem({ status: 0, code: "offline" });
  });
  if (!response.ok) throw problemFrom(response.status, await response.text());
  return response;
}

/** By browser and system, as people know them. */
function deviceName(): string {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(agent)?.[0] ?? t("direct.aBrowser");
  const system = /Android|iPhone|iPad|Windows|Macintosh|Linux/.exec(agent)?.[0];
  const name = { Edg: "Edge", OPR: "Opera" }[browser] ?? browser;
  return system === undefined ? name : `${name}, ${system === "Macintosh" ? "Mac" : system}`;
}
