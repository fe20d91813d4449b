/** The state of a conversation's group as the store holds it. */
import type { ClientState } from "ts-mls";
import type { KeyStore, Writes } from "./keyStore";
import { readState, writeState } from "./suite";

/** A commit on its way: if the server has taken it and the answer was lost, its state is the right one. */
interface PendingCommit {
  readonly epoch: number;
  readonly commit: string;
  readonly state: Uint8Array;
}

interface StoredRecord {
  readonly key: string;
  readonly groupNumber: number;
  readonly state: Uint8Array;
  readonly lastId: string;
  readonly counter: number;
  readonly pending: PendingCommit | null;
}

export interface GroupRecord {
  readonly threadId: string;
  readonly groupNumber: number;
  readonly state: ClientState;
  /** The newest message that was read. */
  readonly lastId: string;
  /** How many messages this device has sent here. */
  readonly counter: number;
  readonly pending: PendingCommit | null;
}

const keyOf = (threadId: string) => `group:${threadId}`;

export async function loadRecord(store: KeyStore, threadId: string): Promise<GroupRecord | null> {
  const found = await store.get<StoredRecord>(keyOf(threadId));
  if (found === null) return null;
  const { groupNumber, lastId, counter, pending } = found;
  return { threadId, groupNumber, lastId, counter, pending, state: readState(found.state) };
}

export function recordWrites(record: GroupRecord): Writes {
  const { groupNumber, lastId, counter, pending } = record;
  const key = keyOf(record.threadId);
  return { [key]: { key, groupNumber, lastId, counter, pending, state: writeState(record.state) } };
}

export function pendingOf(epoch: number, commit: string, state: ClientState): PendingCommit {
  return { epoch, commit, state: writeState(state) };
}

export function epochOf(record: GroupRecord): number {
  return Number(record.state.groupContext.epoch);
}
