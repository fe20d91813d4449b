/** The session: guest, member, or not known yet. Other rooms subscribe to clear their data when the account changes. */
import { forgetKeys } from "../../base/encryptionKeys";
import {
  type Account,
  api,
  type Credentials,
  csrfToken,
  type NewPerson,
  onSessionEnded,
  Problem,
  type SecondFactorChallenge,
} from "../../client";
import { isUnreachable, offline } from "../../offline";

export type SessionStatus = "unknown" | "guest" | "member" | "unreachable";

type Listener = () => void;

/** The offline cache's key of the account. */
const CACHE_KEY = "me";

export class Session {
  status = $state.raw<SessionStatus>("unknown");
  account = $state.raw<Account | null>(null);
  failure = $state.raw<unknown>(null);
  /** The path for which the server answered that guests may not see it. */
  refusedAt = $state.raw<string | null>(null);
  /** The server is unreachable; the account comes from the offline cache. */
  isFromCache = $state.raw(false);
  /** A guess by cookie until the server has answered, so that the layout does not shift when it does. */
  readonly isLikelyMember = $derived(
    this.status === "member" || (this.status === "unknown" && csrfToken() !== null),
  );
  readonly #listeners = new Set<Listener>();

  /** Determines the status, or sets `failure`. */
  async load(): Promise<void> {
    // The CSRF cookie exists exactly as long as the session: without it the server need not be asked.
    if (csrfToken() === null) return this.#setGuest();
    try {
      this.#set(await api.getMe());
    } catch (failure) {
      if (failure instanceof Problem && failure.status === 401) return this.#setGuest();
      const cached = isUnreachable(failure) ? await offline.read<Account>(CACHE_KEY) : null;
      if (cached !== null) return this.#set(cached, true);
      this.failure = failure;
      this.status = "unreachable";
    }
  }

  async join(person: NewPerson): Promise<void> {
    this.#set(await api.join(person));
  }

  /** Logs in; resolves to a challenge when the account needs a second factor. */
  async logIn(credentials: Credentials): Promise<SecondFactorChallenge | null> {
    const answer = await api.logIn(credentials);
    if ("ticket" in answer) return answer;
    this.#set(answer);
    return null;
  }

  /** After a login by other means, or a change of the profile. */
  setAccount(account: Account): void {
    this.#set(account);
  }

  /** Logs out and deletes the account's data on this device, even when the server no longer knows the session. */
  async logOut(): Promise<void> {
    try {
      await api.logOut();
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
    }
    await offline.clear();
    forgetKeys(this.account?.account_id);
    this.#set(null);
  }

  /** Subscribes to changes of the account, so that nobody sees data loaded for another one. */
  onChange(listener: Listener): void {
    this.#listeners.add(listener);
  }

  /** The server no longer knows the session, or shows this page to members only. */
  expire(): void {
    this.refusedAt = location.pathname;
    this.clear();
  }

  /** Forgets the account on this device without a request: its session has ended on the server. */
  clear(): void {
    if (this.status !== "member") return;
    void offline.clear({ keepMutations: true });
    this.#set(null);
  }

  #setGuest(): void {
    void offline.clearForGuest();
    this.#set(null);
  }

  #set(account: Account | null, isFromCache = false): void {
    // The first response is no change: what was requested in parallel belongs to the same cookie.
    const wasKnown = this.status === "guest" || this.status === "member";
    const hasChanged = wasKnown && this.account?.account_id !== account?.account_id;
    this.account = account;
    this.isFromCache = isFromCache;
    this.failure = null;
    this.status = account === null ? "guest" : "member";
    if (account !== null) this.refusedAt = null;
    if (account !== null) void cacheAccount(account);
    if (hasChanged) for (const listener of this.#listeners) listener();
  }
}

async function cacheAccount(account: Account): Promise<void> {
  await offline.setOwner(account.account_id);
  offline.store(CACHE_KEY, account);
}

export const session = new Session();
onSessionEnded(() => session.expire());
