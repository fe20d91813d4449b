/** How drafts are stored on this device, and the lock that keeps two tabs from working on the same one. */
import { readItem, writeItem } from "../../../base/webStorage";
import type { NewPost } from "../../../client";
import type { NewScheduledPost } from "../../../client/scheduledPosts";
import { draftFiles, type OwnedDraft, openDrafts } from "../../../offline/draftStore";
import { PLAIN, type SavedUpload } from "../../media/uploads";

export interface SavedPlace {
  readonly place_id: string;
  readonly name: string;
  readonly lat: number | null;
  readonly lon: number | null;
}

export interface SavedDraft extends OwnedDraft {
  /** Also the Idempotency-Key: whatever is sent again, the draft becomes one post. */
  readonly key: string;
  readonly changed_ms: number;
  readonly isPublishing: boolean;
  /** What was sent to publish it. Sent again unchanged: the answer may have been lost. */
  readonly request: NewPost | NewScheduledPost | null;
  readonly uploads: readonly SavedUpload[];
  readonly caption: string;
  readonly place: SavedPlace | null;
  readonly allowsComments: boolean;
  readonly hidesLikes: boolean;
  /** When it is to be published, as an ISO date and time; drafts of earlier releases do not say. */
  readonly publishAt?: string | null;
  /** Whether it shows camera, lens and exposure; null or missing: as the account's setting says. */
  readonly showsCamera?: boolean | null;
}

const stored = openDrafts<SavedDraft>();

export const saveDraft = (draft: SavedDraft): Promise<void> => stored.put(draft);
export const findDraft = (key: string): Promise<SavedDraft | null> => stored.get(key);

/** The drafts of the account, the one changed last first. */
export async function listDrafts(accountId: string): Promise<readonly SavedDraft[]> {
  await adoptFormer(accountId);
  const all = (await stored.all()).filter((draft) => draft.accountId === accountId);
  return all.sort((a, b) => b.changed_ms - a.changed_ms);
}

/** Deletes a draft and its files on this device. */
export async function deleteDraft(key: string): Promise<void> {
  await stored.remove(key);
  const files = (await draftFiles.all()).filter(({ draft }) => draft === key);
  await draftFiles.remove(...files.map((file) => file.key));
}

/** The files of a draft, by the ids of their uploads. */
export async function loadFiles(key: string): Promise<ReadonlyMap<string, File>> {
  const files = (await draftFiles.all()).filter(({ draft }) => draft === key);
  return new Map(files.map((entry) => [entry.key, entry.file]));
}

/**
 * Locks a draft for this tab until the returned function is called or the tab is closed; null when another tab keeps it for so
 * long. Web Locks exist only over HTTPS: without them two tabs may send the same draft, which the server publishes once.
 */
export function lockDraft(key: string, wait_ms: number | null): Promise<(() => void) | null> {
  if (!navigator.locks) return Promise.resolve(() => {});
  return new Promise((resolve) => {
    const hold = () => new Promise<void>((release) => resolve(release));
    const options = wait_ms === null ? {} : { signal: AbortSignal.timeout(wait_ms) };
    navigator.locks.request(`tintype.draft.${key}`, options, hold).catch(() => resolve(null));
  });
}

const FORMER_KEY = "tintype.draft.";

/** The one draft of release 0.1, from localStorage: its files are on the server alone. */
async function adoptFormer(accountId: string): Promise<void> {
  const text = readItem(FORMER_KEY + accountId);
  if (text === null) return;
  writeItem(FORMER_KEY + accountId, null);
  const former = parse(text);
  if (former === null) return;
  const uploads = former.uploads.map(({ base, edited, edit, altText, tags }) => ({
    id: base,
    name: "",
    isVideo: false,
    uploadId: null,
    base,
    edited: edited === null ? null : { mediaId: edited, edit },
    refusal: null,
    edit: edit ?? PLAIN,
    altText,
    tags: tags.filter(({ account_id }) => account_id !== undefined),
  }));
  await saveDraft({
    ...former,
    accountId,
    changed_ms: Date.now(),
    isPublishing: false,
    request: null,
    uploads,
  });
}

type FormerUpload = Pick<SavedUpload, "edit" | "altText" | "tags"> & { base: string; edited: string | null };
type FormerDraft = Omit<SavedDraft, "accountId" | "changed_ms" | "isPublishing" | "request" | "uploads"> & {
  readonly uploads: readonly FormerUpload[];
};

function parse(text: string): FormerDraft | null {
  try {
    const former = JSON.parse(text) as FormerDraft | null;
    return former !== null && Array.isArray(former.uploads) && typeof former.caption === "string"
      ? former
      : null;
  } catch {
    return null;
  }
}
