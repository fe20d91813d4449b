/** Who types in a thread right now, and telling the others that one does. */
import { live } from "../../live";

/** Without another signal somebody has stopped typing. */
const SHOWN_MS = 6_000;
/** While one types, the others are told this often. */
const REPEAT_MS = 3_000;

export class Typing {
  /** The ids of those who type. */
  accountIds = $state.raw<readonly string[]>([]);
  readonly #threadId: string;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #told_ms = 0;

  constructor(threadId: string) {
    this.#threadId = threadId;
  }

  listen(): () => void {
    const stop = live.onSignal("typing", ({ thread_id, account_id, is_typing }) => {
      if (thread_id !== this.#threadId) return;
      if (is_typing) this.#start(account_id);
      else this.stop(account_id);
    });
    return () => {
      stop();
      this.#tell(false);
      for (const timer of this.#timers.values()) clearTimeout(timer);
    };
  }

  /** The viewer has typed something, or nothing is left of it. */
  tell(isTyping: boolean): void {
    const now_ms = Date.now();
    if (isTyping && now_ms - this.#told_ms > REPEAT_MS) {
      this.#told_ms = now_ms;
      live.hint("typing", { thread_id: this.#threadId, is_typing: true });
    } else if (!isTyping) this.#tell(false);
  }

  stop(accountId: string): void {
    clearTimeout(this.#timers.get(accountId));
    this.#timers.delete(accountId);
    this.accountIds = this.accountIds.filter((each) => each !== accountId);
  }

  #start(accountId: string): void {
    clearTimeout(this.#timers.get(accountId));
    this.#timers.set(
      accountId,
      setTimeout(() => this.stop(accountId), SHOWN_MS),
    );
    if (!this.accountIds.includes(accountId)) this.accountIds = [...this.accountIds, accountId];
  }

  /** Only where the others were told before that one types. */
  #tell(isTyping: boolean): void {
    if (this.#told_ms === 0) return;
    this.#told_ms = 0;
    live.hint("typing", { thread_id: this.#threadId, is_typing: isTyping });
  }
}
