/** Changes of a thread by one of its members: mute, archive, name, lifetime of messages, members and admins. */
import { t } from "../../../base/i18n";
import { announceHidden } from "../../../base/visibilityEvents";
import { api } from "../../../client";
import { direct, type Thread } from "../../../client/direct";
import { setListed } from "../../../client/peopleLists";
import { attempt } from "../../../ui/attempt";
import type { Edit } from "../../media";
import type { Conversation } from "../conversation.svelte";
import { getEncryption } from "../encryptionSession";
import { inbox } from "../inbox.svelte";

export class ThreadSettings {
  isBusy = $state.raw(false);
  readonly #conversation: Conversation;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  readonly isMuted = $derived.by(() => {
    const until = this.#conversation.thread?.muted_until ?? null;
    return until !== null && Date.parse(until) > Date.now();
  });

  /** For some seconds, or without them until it is taken back. */
  mute(for_s: number | null): Promise<boolean> {
    return this.#change(() => direct.mute(this.#id, for_s), t("direct.mutedDone"));
  }

  unmute(): Promise<boolean> {
    return this.#change(() => direct.unmute(this.#id));
  }

  archive(isArchived: boolean): Promise<boolean> {
    return this.#change(
      () => direct.archive(this.#id, isArchived),
      t(isArchived ? "direct.archived" : "direct.unarchived"),
    );
  }

  rename(name: string): Promise<boolean> {
    return this.#change(() => direct.change(this.#id, { name }));
  }

  setLifetime(disappear_s: number, disappears_after: Thread["disappears_after"]): Promise<boolean> {
    return this.#change(() => direct.change(this.#id, { disappear_s, disappears_after }));
  }

  /** Uploads a photo and shows it as the group's. */
  setPhoto(file: File, edit: Edit): Promise<boolean> {
    return this.#change(async () => {
      const media = await api.uploadMedia(file, { fields: { edit: JSON.stringify(edit) } });
      await direct.setPhoto(this.#id, media.media_id);
    });
  }

  removePhoto(): Promise<boolean> {
    return this.#change(() => direct.removePhoto(this.#id));
  }

  add(accountIds: readonly string[]): Promise<boolean> {
    if (this.#conversation.isEncrypted) return this.#change(() => this.#commit({ add: accountIds }));
    return this.#change(() => direct.addMembers(this.#id, accountIds));
  }

  remove(accountId: string): Promise<boolean> {
    if (this.#conversation.isEncrypted) return this.#change(() => this.#commit({ remove: [accountId] }));
    return this.#change(() => direct.removeMember(this.#id, accountId));
  }

  setAdmin(accountId: string, isAdmin: boolean): Promise<boolean> {
    return this.#change(() => direct.setAdmin(this.#id, accountId, isAdmin));
  }

  async leave(): Promise<boolean> {
    const own = this.#conversation.viewer?.account_id ?? "";
    const leave = async () => {
      if (this.#conversation.sealed.state === "ready" && this.#conversation.isEncrypted)
        await (await getEncryption()).threads.leave(this.#id);
      else await direct.removeMember(this.#id, own);
    };
    const isDone = await this.#run(leave, t("direct.left"));
    inbox.refreshSoon();
    return isDone;
  }

  async block(accountId: string, username: string): Promise<boolean> {
    const isDone = await this.#run(
      () => setListed("blocks", accountId, true),
      t("direct.blocked", { name: username }),
    );
    if (isDone) announceHidden(accountId);
    return isDone;
  }

  /** In an encrypted group people come and go with their devices, by one commit. */
  async #commit(change: {
    readonly add?: readonly string[];
    readonly remove?: readonly string[];
  }): Promise<void> {
    await (await getEncryption()).threads.change(this.#id, change);
  }

  get #id(): string {
    return this.#conversation.threadId;
  }

  /** Afterwards the thread and the inbox are read again. */
  async #change(work: () => Promise<unknown>, success = ""): Promise<boolean> {
    const isDone = await this.#run(work, success);
    if (isDone) await this.#conversation.refreshThread();
    inbox.refreshSoon();
    return isDone;
  }

  async #run(work: () => Promise<unknown>, success: string): Promise<boolean> {
    this.isBusy = true;
    const isDone = await attempt(work, { success });
    this.isBusy = false;
    return isDone;
  }
}
