/** The drafts of the account on this device: the one being composed in this tab, and the others. */
import { session } from "../../accounts";
import { Draft } from "./draft.svelte";
import { OpenDraft } from "./openDraft.svelte";
import { deleteDraft, findDraft, listDrafts, type SavedDraft } from "./savedDraft";
import { announceChange, onDraftsChanged } from "./tabs";

class Drafts {
  current = $state.raw<OpenDraft | null>(null);
  /** Those that can be opened, the one changed last first. */
  others = $state.raw<readonly SavedDraft[]>([]);
  #loading: Promise<void> | null = null;
  #startsEmpty = false;

  /** Makes sure that there is a current draft: the one changed last, or after publishing a new one. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** Continues another draft; the current one stays stored. False when another tab has it. */
  async open(key: string): Promise<boolean> {
    const opened = await OpenDraft.open(key, async () => {
      const saved = await findDraft(key);
      if (saved === null || saved.isPublishing || saved.accountId !== session.account?.account_id)
        return null;
      return { draft: await Draft.restore(saved), isStored: true };
    });
    if (opened !== null) await this.#replace(opened);
    return opened !== null;
  }

  /** Begins another draft; the current one stays stored. */
  async startNew(): Promise<void> {
    const accountId = session.account?.account_id;
    if (accountId === undefined) return;
    const draft = new Draft(accountId);
    const opened = await OpenDraft.open(draft.key, async () => ({ draft, isStored: false }), null);
    if (opened !== null) await this.#replace(opened);
  }

  /** Deletes the current draft, here and on the server, and begins another. */
  async discard(): Promise<void> {
    this.current?.draft.discard();
    await this.current?.delete();
    await this.startNew();
  }

  /** Deletes a stored draft that is not open; its uploads expire on the server within a day. */
  async remove(key: string): Promise<void> {
    await deleteDraft(key);
    announceChange();
    await this.refresh();
  }

  /** Hands the current draft over, to be published in the background. */
  release(): OpenDraft | null {
    const { current } = this;
    this.current = null;
    this.#startsEmpty = true;
    return current;
  }

  /** A draft that could not be published is composed again. */
  async adopt(opened: OpenDraft): Promise<void> {
    await this.#replace(opened);
  }

  async refresh(): Promise<void> {
    const accountId = session.account?.account_id;
    const all = accountId === undefined ? [] : await listDrafts(accountId);
    this.others = all.filter(({ key, isPublishing }) => !isPublishing && key !== this.current?.draft.key);
  }

  /** The account has changed: nothing of the former one is shown. */
  close(): void {
    this.current?.close();
    this.current = null;
    this.others = [];
    this.#startsEmpty = false;
  }

  async #load(): Promise<void> {
    await this.refresh();
    if (this.current !== null) return;
    if (!this.#startsEmpty) for (const { key } of this.others) if (await this.open(key)) return;
    await this.startNew();
  }

  async #replace(opened: OpenDraft): Promise<void> {
    if (this.current !== opened) this.current?.close();
    this.current = opened;
    await this.refresh();
  }
}

export const drafts = new Drafts();
session.onChange(() => drafts.close());
onDraftsChanged(() => void drafts.refresh());
