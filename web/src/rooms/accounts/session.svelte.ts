/** Who is here: nobody, somebody, or not known yet. Other rooms forget what they hold when it changes. */
import {
  type Account,
  type Asked,
  api,
  type Credentials,
  csrfToken,
  type NewPerson,
  Problem,
  whenSignedOut,
} from "../../client";
import { isUnreachable, offline } from "../../offline";

export type Standing = "unknown" | "guest" | "member" | "unreachable";

type Listener = () => void;

/** Under which the account is remembered for visits without a connection. */
const ME = "me";

export class Session {
  standing = $state.raw<Standing>("unknown");
  account = $state.raw<Account | null>(null);
  failure = $state.raw<unknown>(null);
  /** The page of which the server said that it is not for guests. */
  refusedAt = $state.raw<string | null>(null);
  /** The server could not be asked; the account is the one last seen on this device. */
  isRemembered = $state.raw(false);
  /** Good enough to lay out the page by, before the server has answered: nothing then moves when it does. */
  readonly isLikelyMember = $derived(
    this.standing === "member" || (this.standing === "unknown" && csrfToken() !== null),
  );
  readonly #listeners = new Set<Listener>();

  /** The standing is known, or the failure says why not. */
  async load(): Promise<void> {
    // The readable cookie comes and goes with the session: without it there is nobody to ask for.
    if (csrfToken() === null) return this.#become(null);
    try {
      this.#become(await api.getMe());
    } catch (failure) {
      if (failure instanceof Problem && failure.status === 401) return this.#become(null);
      const known = isUnreachable(failure) ? await offline.find<Account>(ME) : null;
      if (known !== null) return this.#become(known, true);
      this.failure = failure;
      this.standing = "unreachable";
    }
  }

  async join(person: NewPerson): Promise<void> {
    this.#become(await api.join(person));
  }

  /** Somebody is here, or the answer says what else they have to prove. */
  async logIn(credentials: Credentials): Promise<Asked | null> {
    const answer = await api.logIn(credentials);
    if ("ticket" in answer) return answer;
    this.#become(answer);
    return null;
  }

  /** Somebody has come in another way, or has changed what their profile says. */
  enter(account: Account): void {
    this.#become(account);
  }

  /** This device forgets the account, even where the server had already forgotten the session. */
  async logOut(): Promise<void> {
    try {
      await api.logOut();
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
    }
    await offline.forget();
    this.#become(null);
  }

  /** Called after the account changes, so that nobody sees what was loaded for another. */
  whenChanged(listener: Listener): void {
    this.#listeners.add(listener);
  }

  /** The server no longer knows the session, or shows this page only to those who have one. */
  end(): void {
    this.refusedAt = location.pathname;
    if (this.standing !== "member") return;
    void offline.forget({ keepsWishes: true });
    this.#become(null);
  }

  #become(account: Account | null, isRemembered = false): void {
    // The first answer changes nobody: what was asked for beside it belongs to the same cookie.
    const wasKnown = this.standing === "guest" || this.standing === "member";
    const hasChanged = wasKnown && this.account?.account_id !== account?.account_id;
    this.account = account;
    this.isRemembered = isRemembered;
    this.failure = null;
    this.standing = account === null ? "guest" : "member";
    if (account !== null) this.refusedAt = null;
    if (account !== null) void keepOnDevice(account);
    if (hasChanged) for (const listener of this.#listeners) listener();
  }
}

async function keepOnDevice(account: Account): Promise<void> {
  await offline.belongTo(account.account_id);
  offline.keep(ME, account);
}

export const session = new Session();
whenSignedOut(() => session.end());
