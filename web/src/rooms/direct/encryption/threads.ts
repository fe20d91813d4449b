/** Encrypted conversations on this device: begin, read, send, add and remove people and devices. */
import { digest, fromBase64Url, toBase64Url } from "./bytes";
import { CatchUp, ownKey, type Position } from "./catchUp";
import { type Content, encodeContent, isChange } from "./content";
import type { Device } from "./device";
import { EncryptionError } from "./errors";
import {
  beginGroup,
  encrypt,
  groupIdOf,
  leavesOf,
  makeCommit,
  proposeRemoval,
  readRemoval,
  type TreeLeaf,
} from "./group";
import { epochOf, type GroupRecord, loadRecord, pendingOf, recordWrites } from "./groupRecord";
import type { KeyStore } from "./keyStore";
import { codeOf, type EncryptionServer, type Leaf, type Sent } from "./server";

/** How often a commit or a message is tried again after others came first. */
const ATTEMPTS = 8;
const RACES = new Set(["epoch_taken", "epoch_stale", "commit_needed"]);

export interface Change {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

/** What the next commit does. */
interface Plan {
  readonly proposals: readonly Uint8Array[];
  readonly removed: readonly Leaf[];
  readonly added: readonly Uint8Array[];
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

export class EncryptedThreads {
  readonly #store: KeyStore;
  readonly #server: EncryptionServer;
  readonly #device: Device;
  readonly #catchUp: CatchUp;

  constructor(store: KeyStore, server: EncryptionServer, device: Device) {
    this.#store = store;
    this.#server = server;
    this.#device = device;
    this.#catchUp = new CatchUp(store, server, device);
  }

  /** The encrypted conversation with these people; it exists once this device or another has made its first commit. */
  async open(
    accountIds: readonly string[],
    group: { name: string; local_id: string } | null = null,
  ): Promise<string> {
    const threadId = await this.#server.openThread(accountIds, this.#device.deviceId, group);
    await this.#alone(threadId, async () => {
      const server = await this.#server.getGroup(threadId);
      const known = await loadRecord(this.#store, threadId);
      const [first] = server.leaves;
      const isOwn = server.epoch === 0 && first?.device_id === this.#device.deviceId;
      if (isOwn && known?.groupNumber !== server.group_number)
        await this.#begin(threadId, server.group_number);
      if (server.epoch === 0 && isOwn) await this.#settle(threadId, {});
    });
    return threadId;
  }

  /** Reads everything new. */
  async refresh(threadId: string): Promise<void> {
    await this.#alone(threadId, () => this.#catchUp.run(threadId));
  }

  /** Reads everything new, adds devices that are missing, and removes those that are gone. */
  async tend(threadId: string): Promise<void> {
    await this.#alone(threadId, () => this.#settle(threadId, {}));
  }

  /** Adds people to a group with all their devices, or removes them, as an admin. */
  async change(threadId: string, change: Change): Promise<void> {
    await this.#alone(threadId, () => this.#settle(threadId, change));
  }

  /** Begins the group anew where nobody holds its keys any more; what was written before stays closed. */
  async beginAnew(threadId: string): Promise<void> {
    await this.#alone(threadId, async () => {
      const { group_number } = await this.#server.getGroup(threadId);
      await this.#begin(
        threadId,
        await this.#server.beginGroup(threadId, this.#device.deviceId, group_number),
      );
      await this.#settle(threadId, {});
    });
  }

  /** Leaves a group, and proposes the removal of this person's leaves, which the next commit takes up. */
  async leave(threadId: string): Promise<void> {
    await this.#alone(threadId, async () => {
      const { record } = await this.#catchUp.run(threadId);
      const mine = leavesOf(record.state).filter((leaf) => leaf.accountId === this.#device.accountId);
      const proposals = await Promise.all(mine.map((leaf) => proposeRemoval(record.state, leaf.leafIndex)));
      await this.#server.leave(threadId, {
        device_id: this.#device.deviceId,
        group_number: record.groupNumber,
        epoch: epochOf(record),
        proposals: proposals.map(toBase64Url),
      });
    });
  }

  /** Sends a message; the same local id sends it once, however often this is called. */
  async send(
    threadId: string,
    content: Content,
    localId: string,
    attachmentId: string | null = null,
  ): Promise<Sent> {
    return await this.#alone(threadId, async () => {
      for (let attempt = 1; ; attempt += 1) {
        const { record } = await this.#settle(threadId, {});
        try {
          return await this.#sendIn(record, content, localId, attachmentId);
        } catch (error) {
          if (attempt === ATTEMPTS || !(await this.#mayRetry(threadId, error))) throw error;
        }
      }
    });
  }

  /** The devices in a conversation, by the keys that open it. */
  async leaves(threadId: string): Promise<readonly TreeLeaf[]> {
    const record = await loadRecord(this.#store, threadId);
    if (record === null) throw new EncryptionError("not_in_group");
    return leavesOf(record.state);
  }

  #alone<T>(threadId: string, run: () => Promise<T>): Promise<T> {
    return this.#store.exclusively(`thread:${threadId}`, run);
  }

  async #begin(threadId: string, groupNumber: number): Promise<void> {
    const state = await beginGroup(groupIdOf(threadId, groupNumber), this.#device);
    const known = await loadRecord(this.#store, threadId);
    const { lastId = "0", counter = 0 } = known ?? {};
    await this.#store.write(recordWrites({ threadId, groupNumber, state, lastId, counter, pending: null }));
  }

  async #sendIn(
    record: GroupRecord,
    content: Content,
    localId: string,
    attachmentId: string | null,
  ): Promise<Sent> {
    const plain = encodeContent(content);
    const [state, ciphertext] = await encrypt(record.state, plain);
    const next = { ...record, state };
    await this.#store.write({ ...recordWrites(next), [ownKey(await digest(ciphertext))]: plain });
    const sent = await this.#server.sendMessage(record.threadId, {
      device_id: this.#device.deviceId,
      local_id: localId,
      counter: record.counter + 1,
      group_number: record.groupNumber,
      epoch: epochOf(record),
      ciphertext: toBase64Url(ciphertext),
      attachment_id: attachmentId,
      is_change: isChange(content),
    });
    await this.#store.write(recordWrites({ ...next, counter: record.counter + 1 }));
    return sent;
  }

  /** Whether to try again: others came first, or this device has lost count. */
  async #mayRetry(threadId: string, error: unknown): Promise<boolean> {
    const code = codeOf(error);
    if (code === "counter_used" || code === "earlier_missing") {
      const record = await loadRecord(this.#store, threadId);
      const { last_counter } = await this.#server.getThread(threadId, this.#device.deviceId);
      if (record === null || record.counter === last_counter) return false;
      await this.#store.write(recordWrites({ ...record, counter: last_counter ?? 0 }));
      return true;
    }
    return RACES.has(code);
  }

  /** Catches up, and commits until the tree is as it should be: asked-for changes made, the missing added, the gone removed. */
  async #settle(threadId: string, asked: Change): Promise<Position> {
    let change = asked;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const position = await this.#catchUp.run(threadId);
      const planned = await this.#plan(position, change);
      if (planned === null) return position;
      try {
        await this.#commit(position.record, planned);
        change = {};
      } catch (error) {
        if (!RACES.has(codeOf(error))) throw error;
      }
    }
    throw new EncryptionError("cannot_commit");
  }

  /** What the next commit does; null for nothing. */
  async #plan({ record, group }: Position, change: Change): Promise<Plan | null> {
    const { add = [], remove = [] } = change;
    const proposals = group.proposals.map(fromBase64Url);
    const removed = group.leaves.filter((leaf) => leaf.is_gone || remove.includes(leaf.account_id));
    const missing = group.missing.filter((each) => !remove.includes(each.account_id));
    const claimed = [
      ...(await this.#claim(
        record.threadId,
        missing.map((each) => each.account_id),
        missing.map((each) => each.device_id),
      )),
      ...(await this.#claim(record.threadId, add, null)),
    ];
    const added = claimed.map((each) => fromBase64Url(each.key_package));
    if (group.epoch === 0 && added.length === 0) throw new EncryptionError("cannot_commit"); // Nobody could read it.
    const isIdle = removed.length + added.length + add.length + remove.length === 0;
    return isIdle ? null : { proposals, removed, added, add, remove };
  }

  async #claim(threadId: string, accountIds: readonly string[], deviceIds: readonly string[] | null) {
    if (accountIds.length === 0) return [];
    return await this.#server.claimKeyPackages([...new Set(accountIds)], deviceIds, threadId);
  }

  async #commit(record: GroupRecord, plan: Plan): Promise<void> {
    const { proposals, removed, added, add, remove } = plan;
    const epoch = epochOf(record);
    const proposed = proposals.map(readRemoval);
    const byValue = removed.map((leaf) => leaf.leaf_index).filter((index) => !proposed.includes(index));
    const made = await makeCommit(record.state, proposals, byValue, added);
    const commit = toBase64Url(made.commit);
    await this.#store.write(recordWrites({ ...record, pending: pendingOf(epoch, commit, made.state) }));
    await this.#server.commit(record.threadId, {
      device_id: this.#device.deviceId,
      group_number: record.groupNumber,
      epoch,
      commit,
      welcome: made.welcome === null ? null : toBase64Url(made.welcome),
      add_members: add,
      remove_members: remove,
    });
  }
}
