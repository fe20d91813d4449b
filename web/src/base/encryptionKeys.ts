/** Keys of encrypted conversations on this device. They lie in a database per account, so that logging out can delete it. */
import { readItem, writeItem } from "./webStorage";

export const keysDatabase = (accountId: string): string => `tintype-encryption-${accountId}`;

const waitingKey = (accountId: string) => `tintype.outbox.${accountId}`;

/** Whether encrypted messages of this account wait to be sent: known without opening the database. */
export const hasWaiting = (accountId: string): boolean => readItem(waitingKey(accountId)) !== null;

export function setWaiting(accountId: string, isWaiting: boolean): void {
  writeItem(waitingKey(accountId), isWaiting ? "1" : null);
}

/** Deletes them: whoever logs out is no device of encrypted conversations any more. */
export function forgetKeys(accountId: string | undefined): void {
  if (accountId === undefined) return;
  setWaiting(accountId, false);
  globalThis.indexedDB?.deleteDatabase(keysDatabase(accountId));
}
