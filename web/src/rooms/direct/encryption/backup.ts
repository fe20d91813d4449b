/**
 * The backup of what was read, for a new device: parts of a hundred messages, encrypted under a key that a passphrase opens.
 * All devices of a person write the same parts; who comes second reads, merges, and writes again. Disappearing messages are
 * not in it.
 */
import { type Bytes, decodeText, encodeText, fromBase64Url, join, own, toBase64Url } from "./bytes";
import { EncryptionError } from "./errors";
import type { History, ReadMessage } from "./history";
import type { KeyStore } from "./keyStore";
import { type Argon2Parameters, makeBackupKey, unwrapKey, wrapKey } from "./passphrase";
import { codeOf, type EncryptionServer } from "./server";

interface OpenBackup {
  readonly version: number;
  readonly key: Bytes;
}

const KEY = "backup";
const IV_BYTES = 12;
const IN_A_PART = 100;
const ATTEMPTS = 5;

const partOf = (message: ReadMessage) => `${message.threadId}.${Math.floor(message.number / IN_A_PART)}`;

export class Backup {
  readonly #store: KeyStore;
  readonly #server: EncryptionServer;
  readonly #history: History;

  constructor(store: KeyStore, server: EncryptionServer, history: History) {
    this.#store = store;
    this.#server = server;
    this.#history = history;
  }

  /** Whether this device writes to the backup. */
  async isOpen(): Promise<boolean> {
    return (await this.#store.get(KEY)) !== null;
  }

  /** Whether there is one, of whatever device. */
  async exists(): Promise<boolean> {
    return (await this.#find()) !== null;
  }

  /** A new backup under a new key, in place of any other. */
  async begin(passphrase: string, parameters?: Argon2Parameters): Promise<void> {
    const key = makeBackupKey();
    const header = await wrapKey(key, passphrase, parameters);
    const version = await this.#server.beginBackup(header, (await this.#find())?.version ?? 0);
    await this.#store.write({ [KEY]: { version, key } satisfies OpenBackup });
  }

  /** Another passphrase for the same backup. */
  async changePassphrase(passphrase: string, parameters?: Argon2Parameters): Promise<void> {
    const { key, version } = await this.#opened();
    await this.#server.rewrapBackup(await wrapKey(key, passphrase, parameters), version);
  }

  async delete(): Promise<void> {
    await this.#server.deleteBackup();
    await this.#store.write({ [KEY]: null });
  }

  /** Opens the backup with its passphrase and adds everything in it to this device's history; returns how many messages. */
  async restore(passphrase: string): Promise<number> {
    const found = await this.#find();
    if (found === null) throw new EncryptionError("no_backup");
    const key = await unwrapKey(found.header, passphrase);
    let count = 0;
    let after = "";
    for (;;) {
      const parts = await this.#server.listBackupParts(after);
      for (const part of parts) count += await this.#take(await open(key, part.name, part.content));
      const last = parts.at(-1);
      if (last === undefined) break;
      after = last.name;
    }
    await this.#store.write({ [KEY]: { version: found.version, key } satisfies OpenBackup });
    return count;
  }

  /** Writes what a conversation's history has and the backup has not; unsent messages leave it. */
  async write(threadId: string, unsentIds: readonly string[] = []): Promise<void> {
    if (!(await this.isOpen())) return;
    const parts = new Map<string, ReadMessage[]>();
    for (const message of await this.#history.list(threadId)) {
      if (message.expiresAt !== null || message.content === null) continue;
      const name = partOf(message);
      parts.set(name, [...(parts.get(name) ?? []), message]);
    }
    for (const [name, messages] of parts) await this.#writePart(name, messages, unsentIds);
  }

  async #writePart(
    name: string,
    messages: readonly ReadMessage[],
    unsentIds: readonly string[],
  ): Promise<void> {
    const { key, version } = await this.#opened();
    for (let attempt = 1; ; attempt += 1) {
      const stored = await this.#findPart(name);
      const before = stored === null ? [] : await open(key, name, stored.content);
      const merged = new Map(before.map((each) => [each.messageId, each]));
      for (const each of messages) merged.set(each.messageId, each);
      for (const each of unsentIds) merged.delete(each);
      if (isSame(before, merged)) return;
      const content = await seal(key, name, [...merged.values()]);
      try {
        await this.#server.putBackupPart(name, version, stored?.version ?? 0, content);
        return;
      } catch (error) {
        if (codeOf(error) !== "backup_changed" || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Adds messages that this device could not read or does not have. */
  async #take(messages: readonly ReadMessage[]): Promise<number> {
    const known = await Promise.all(
      messages.map((each) => this.#history.find(each.threadId, each.messageId)),
    );
    const fresh = messages.filter((_, index) => (known[index]?.content ?? null) === null);
    if (fresh.length > 0) await this.#history.add(fresh);
    return fresh.length;
  }

  async #opened(): Promise<OpenBackup> {
    const found = await this.#store.get<OpenBackup>(KEY);
    if (found === null) throw new EncryptionError("no_backup");
    return found;
  }

  async #find() {
    try {
      return await this.#server.getBackup();
    } catch (error) {
      if (codeOf(error) === "backup_not_found") return null;
      throw error;
    }
  }

  async #findPart(name: string) {
    try {
      return await this.#server.getBackupPart(name);
    } catch (error) {
      if (codeOf(error) === "backup_not_found") return null;
      throw error;
    }
  }
}

function isSame(before: readonly ReadMessage[], merged: ReadonlyMap<string, ReadMessage>): boolean {
  return before.length === merged.size && before.every((each) => merged.has(each.messageId));
}

/** The name is bound to the content: the server cannot exchange parts. */
async function seal(key: Bytes, name: string, messages: readonly ReadMessage[]): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const plain = encodeText(JSON.stringify(messages));
  const options = { name: "AES-GCM", iv, additionalData: encodeText(name) };
  const sealed = await crypto.subtle.encrypt(options, await importKey(key), plain);
  return toBase64Url(join(iv, new Uint8Array(sealed)));
}

async function open(key: Bytes, name: string, content: string): Promise<ReadMessage[]> {
  const bytes = fromBase64Url(content);
  const options = { name: "AES-GCM", iv: own(bytes.subarray(0, IV_BYTES)), additionalData: encodeText(name) };
  const plain = await crypto.subtle.decrypt(options, await importKey(key), own(bytes.subarray(IV_BYTES)));
  return JSON.parse(decodeText(new Uint8Array(plain))) as ReadMessage[];
}

function importKey(raw: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt", "decrypt"]);
}
