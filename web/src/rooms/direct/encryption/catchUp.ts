/**
 * Brings a conversation up to date: joins it by a welcome, then reads messages and applies commits in their one order. Every
 * message lies in one epoch, so all messages of an epoch are read before the commit that ends it is applied.
 */
import { areEqual, digest, fromBase64Url } from "./bytes";
import { decodeContent } from "./content";
import { type Device, type OwnKeyPackage, packageKey } from "./device";
import { EncryptionError } from "./errors";
import { applyHandshake, decrypt, groupIdOf, groupOf, join, leavesOf, readWelcome } from "./group";
import { epochOf, type GroupRecord, loadRecord, recordWrites } from "./groupRecord";
import { History, type ReadMessage, type Unreadable, writesOf } from "./history";
import type { KeyStore, Writes } from "./keyStore";
import { type Commit, codeOf, type EncryptionServer, type Group, type ServerMessage } from "./server";
import { readState } from "./suite";

/** Under which the text of an own message waits: its sender cannot decrypt it. */
export const ownKey = (hash: string) => `own:${hash}`;

export interface Position {
  readonly record: GroupRecord;
  readonly group: Group;
}

export class CatchUp {
  readonly #store: KeyStore;
  readonly #server: EncryptionServer;
  readonly #device: Device;

  constructor(store: KeyStore, server: EncryptionServer, device: Device) {
    this.#store = store;
    this.#server = server;
    this.#device = device;
  }

  /** The conversation up to now; rejects with `not_in_group` while nobody has added this device. */
  async run(threadId: string): Promise<Position> {
    for (;;) {
      const group = await this.#server.getGroup(threadId);
      let record = await this.#enter(threadId, group);
      const commits = await this.#server.listCommits(threadId, this.#device.deviceId, epochOf(record));
      const messages = await this.#newMessages(record);
      for (const commit of commits) {
        record = await this.#read(record, messages);
        record = await this.#apply(record, commit);
      }
      record = await this.#read(record, messages);
      if (commits.length === 0) {
        // Commits are kept for months; a device that was away for longer is added anew.
        if (epochOf(record) < group.epoch) throw new EncryptionError("key_missing");
        checkTree(record, group);
        return { record, group };
      }
    }
  }

  /** The group's state on this device: the one it has, or a new one by the welcome. */
  async #enter(threadId: string, group: Group): Promise<GroupRecord> {
    const known = await loadRecord(this.#store, threadId);
    if (known !== null && known.groupNumber === group.group_number) return known;
    const mine = group.leaves.find((leaf) => leaf.device_id === this.#device.deviceId);
    if (mine === undefined) throw new EncryptionError("not_in_group");
    const own = await this.#welcome(threadId);
    const state = await join(own.welcome, own.keys);
    const record: GroupRecord = {
      threadId,
      groupNumber: group.group_number,
      state,
      lastId: known?.lastId ?? "0",
      counter: known?.counter ?? 0,
      pending: null,
    };
    const used = own.keys.isLastResort ? {} : { [own.key]: null };
    await this.#store.write({ ...recordWrites(record), ...used });
    return record;
  }

  async #welcome(threadId: string) {
    try {
      const welcome = readWelcome(
        fromBase64Url(await this.#server.getWelcome(threadId, this.#device.deviceId)),
      );
      for (const { newMember } of welcome.secrets) {
        const key = packageKey(newMember);
        const keys = await this.#store.get<OwnKeyPackage>(key);
        if (keys !== null) return { welcome, keys, key };
      }
    } catch (error) {
      if (codeOf(error) !== "device_not_in_group") throw error;
    }
    throw new EncryptionError("key_missing");
  }

  /** Messages that are not read yet, the oldest first. */
  async #newMessages(record: GroupRecord): Promise<ServerMessage[]> {
    const found: ServerMessage[] = [];
    const last = BigInt(record.lastId);
    let cursor: string | null = null;
    do {
      const page = await this.#server.pageMessages(record.threadId, cursor);
      const fresh = page.messages.filter((message) => BigInt(message.message_id) > last);
      found.push(...fresh);
      cursor = fresh.length === page.messages.length ? page.next_cursor : null;
    } while (cursor !== null);
    return found.reverse();
  }

  /** Reads the messages of the current epoch and marks those of earlier ones; each step is stored before the next. */
  async #read(start: GroupRecord, messages: ServerMessage[]): Promise<GroupRecord> {
    let record = start;
    for (let next = messages[0]; next !== undefined && isDue(next, record); next = messages[0]) {
      messages.shift();
      record = await this.#readOne(record, next);
    }
    return record;
  }

  async #readOne(record: GroupRecord, message: ServerMessage): Promise<GroupRecord> {
    const next = { ...record, lastId: message.message_id };
    const { sealed } = message;
    if (sealed === null) return await this.#keep(next, {}); // Unsent, or hidden by a block.
    const ciphertext = fromBase64Url(sealed.ciphertext);
    const own = ownKey(await digest(ciphertext));
    const plain = await this.#store.get<Uint8Array>(own);
    if (plain !== null) {
      const read = show(message, record.threadId, this.#device.accountId, plain, null);
      return await this.#keep(next, { ...writesOf(read), [own]: null });
    }
    if (isEarlier(message, record)) return await this.#mark(next, message, "before_joining");
    try {
      const opened = await decrypt(record.state, ciphertext);
      const read = show(message, record.threadId, opened.sender.accountId, opened.plain, null);
      return await this.#keep({ ...next, state: opened.state }, writesOf(read));
    } catch {
      return await this.#mark(next, message, "failed");
    }
  }

  /** Notes that a message cannot be read, unless the backup has brought what it says. */
  async #mark(record: GroupRecord, message: ServerMessage, reason: Unreadable): Promise<GroupRecord> {
    const known = await new History(this.#store).find(record.threadId, message.message_id);
    const isKnown = known !== null && known.content !== null;
    return await this.#keep(
      record,
      isKnown ? {} : writesOf(show(message, record.threadId, "", null, reason)),
    );
  }

  async #keep(record: GroupRecord, writes: Writes): Promise<GroupRecord> {
    await this.#store.write({ ...recordWrites(record), ...writes });
    return record;
  }

  /** The state after a commit: of this device, the one it has prepared. */
  async #apply(record: GroupRecord, commit: Commit): Promise<GroupRecord> {
    if (commit.epoch !== epochOf(record)) throw new EncryptionError("key_missing");
    const { pending } = record;
    const isOwn = pending !== null && pending.epoch === commit.epoch && pending.commit === commit.commit;
    let state = isOwn ? readState(pending.state) : record.state;
    const steps = isOwn ? [] : [...commit.proposals, commit.commit];
    for (const step of steps) state = await applyHandshake(state, fromBase64Url(step));
    return await this.#keep({ ...record, state, pending: null }, {});
  }
}

/** Of another group of the thread, or of an epoch before the current one. */
function isEarlier({ sealed }: ServerMessage, record: GroupRecord): boolean {
  if (sealed === null) return false;
  const groupId = groupIdOf(record.threadId, record.groupNumber);
  return !areEqual(groupOf(fromBase64Url(sealed.ciphertext)), groupId) || sealed.epoch < epochOf(record);
}

/** Whether a message can be dealt with now, and not only after further commits. */
function isDue(message: ServerMessage, record: GroupRecord): boolean {
  return (message.sealed?.epoch ?? 0) <= epochOf(record) || isEarlier(message, record);
}

function show(
  message: ServerMessage,
  threadId: string,
  accountId: string,
  plain: Uint8Array | null,
  unreadable: Unreadable | null,
): ReadMessage {
  const content = plain === null ? null : decodeContent(plain);
  return {
    threadId,
    messageId: message.message_id,
    number: message.number,
    accountId,
    createdAt: message.created_at,
    expiresAt: message.expires_at,
    content,
    unreadable: unreadable ?? (content === null ? "unknown" : null),
  };
}

/** The tree that holds the keys must be the one that the server shows: nobody else can read along. */
function checkTree(record: GroupRecord, group: Group): void {
  if (epochOf(record) !== group.epoch) return; // Another commit has come meanwhile.
  const tree = leavesOf(record.state);
  const isSame =
    tree.length === group.leaves.length &&
    tree.every((leaf) => {
      const told = group.leaves.find((each) => each.leaf_index === leaf.leafIndex);
      return told !== undefined && areEqual(fromBase64Url(told.signature_key), leaf.signatureKey);
    });
  if (!isSame) throw new EncryptionError("tree_mismatch");
}
