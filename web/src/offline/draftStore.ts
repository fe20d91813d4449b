/**
 * Drafts on this device: their text in one store, their files in another, so that saving a caption does not write photos again.
 * They belong to one account and are deleted when it signs out.
 */
import { type Keyed, type ObjectStore, openObjectStore } from "../base/indexedDb";

export interface OwnedDraft extends Keyed {
  readonly accountId: string;
}

export interface DraftFile extends Keyed {
  readonly accountId: string;
  /** The key of the draft. */
  readonly draft: string;
  readonly file: File;
}

export const draftFiles: ObjectStore<DraftFile> = openObjectStore<DraftFile>("draftFiles");

export function openDrafts<T extends OwnedDraft>(): ObjectStore<T> {
  return openObjectStore<T>("drafts");
}

/** Deletes the drafts and files of the accounts that are chosen. */
export async function forgetDrafts(isChosen: (accountId: string) => boolean): Promise<void> {
  for (const store of [openDrafts(), draftFiles] as const) {
    const chosen = (await store.all()).filter(({ accountId }) => isChosen(accountId));
    await store.remove(...chosen.map(({ key }) => key));
  }
}
