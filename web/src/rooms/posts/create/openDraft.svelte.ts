/** A draft that this tab works on: locked against other tabs, and saved on this device with every change. */
import type { Draft } from "./draft.svelte";
import { deleteDraft, lockDraft, saveDraft } from "./savedDraft";
import { announceChange } from "./tabs";

/** How long a reloaded page waits for the lock of the page before it. */
const RELOAD_MS = 1_500;

export class OpenDraft {
  readonly draft: Draft;
  /** Whether the last change has been stored. */
  isSaved = $state.raw(true);
  #revision = 0;
  #isStored: boolean;
  #isClosed = false;
  readonly #unlock: () => void;
  readonly #stopSaving: () => void;

  private constructor(draft: Draft, isStored: boolean, unlock: () => void) {
    this.draft = draft;
    this.#isStored = isStored;
    this.#unlock = unlock;
    this.#stopSaving = $effect.root(() => {
      $effect(() => {
        const { saved, isEmpty } = draft;
        void this.#write(isEmpty ? null : saved);
      });
    });
  }

  /** Opens the draft that `make` resolves to once it is locked; null when another tab has it, or it is gone. */
  static async open(
    key: string,
    make: () => Promise<{ draft: Draft; isStored: boolean } | null>,
    wait_ms: number | null = RELOAD_MS,
  ): Promise<OpenDraft | null> {
    const unlock = await lockDraft(key, wait_ms);
    const made = unlock && (await make());
    if (made) return new OpenDraft(made.draft, made.isStored, unlock);
    unlock?.();
    return null;
  }

  /** Stores the draft as it is now. */
  save(): Promise<void> {
    return this.#write(this.draft.saved);
  }

  /** Stops working on it and lets other tabs; it stays stored. */
  close(): void {
    this.#stop();
    this.#unlock();
  }

  /** It is published, or nobody wants it any more: deletes it on this device, before another tab may have it. */
  async delete(): Promise<void> {
    this.#stop();
    await deleteDraft(this.draft.key);
    this.#unlock();
    announceChange();
  }

  #stop(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopSaving();
    this.draft.close();
  }

  async #write(saved: Draft["saved"] | null): Promise<void> {
    if (this.#isClosed) return;
    const revision = ++this.#revision;
    this.isSaved = false;
    if (saved !== null) await saveDraft(saved);
    else if (this.#isStored) await deleteDraft(this.draft.key);
    const isNew = this.#isStored !== (saved !== null);
    this.#isStored = saved !== null;
    if (isNew) announceChange();
    if (revision === this.#revision) this.isSaved = true;
  }
}
