/** The draft across a reload: the server has the pictures for a day, this browser remembers what was said about them. */
import { recall, remember } from "../../../base/device";
import type { SavedUpload } from "../../media";

export interface SavedPlace {
  readonly place_id: string;
  readonly name: string;
  readonly lat: number | null;
  readonly lon: number | null;
}

export interface SavedDraft {
  readonly key: string;
  readonly uploads: readonly SavedUpload[];
  readonly caption: string;
  readonly place: SavedPlace | null;
  readonly allowsComments: boolean;
  readonly hidesLikes: boolean;
}

const KEY = "tintype.draft.";

export function keepDraft(accountId: string, draft: SavedDraft | null): void {
  remember(KEY + accountId, draft === null ? null : JSON.stringify(draft));
}

/** What was kept, or null when there is nothing or it cannot be read. */
export function findDraft(accountId: string): SavedDraft | null {
  try {
    const saved = JSON.parse(recall(KEY + accountId) ?? "null") as SavedDraft | null;
    return saved !== null && Array.isArray(saved.uploads) && typeof saved.caption === "string" ? saved : null;
  } catch {
    return null;
  }
}
