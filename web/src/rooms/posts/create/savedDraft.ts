/** Saves the draft in localStorage for a reload; the server keeps the uploaded media for a day. */
import { readItem, writeItem } from "../../../base/webStorage";
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

export function saveDraft(accountId: string, draft: SavedDraft | null): void {
  writeItem(KEY + accountId, draft === null ? null : JSON.stringify(draft));
}

/** The saved draft, or null when there is none or it cannot be parsed. */
export function loadDraft(accountId: string): SavedDraft | null {
  try {
    const saved = JSON.parse(readItem(KEY + accountId) ?? "null") as SavedDraft | null;
    return saved !== null && Array.isArray(saved.uploads) && typeof saved.caption === "string" ? saved : null;
  } catch {
    return null;
  }
}
