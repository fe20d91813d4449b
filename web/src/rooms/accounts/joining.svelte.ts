/** Whether the visitor may create an account here, and who invites them. */
import { type Author, isNotFound } from "../../client";
import { getInviter, getRegistration, type Registration } from "../../client/invitations";

export class Joining {
  /** The code of the link by which the visitor came; empty without one. */
  readonly code: string;
  registration = $state.raw<Registration | null>(null);
  inviter = $state.raw<Author | null>(null);
  /** The link has been used up, has expired or was revoked. */
  isOutdated = $state.raw(false);
  failure = $state.raw<unknown>(null);

  constructor(code: string) {
    this.code = code;
  }

  /** Whether the form can be shown; null until the server has answered. */
  get isAllowed(): boolean | null {
    if (this.registration === null) return null;
    return this.registration === "open" || (this.registration === "invitation" && this.inviter !== null);
  }

  /** What the form sends along. */
  get invitation(): { invitation: string } | Record<string, never> {
    return this.inviter === null ? {} : { invitation: this.code };
  }

  async load(): Promise<void> {
    this.failure = null;
    try {
      const [registration] = await Promise.all([getRegistration(), this.#loadInviter()]);
      this.registration = registration;
    } catch (error) {
      this.failure = error;
    }
  }

  async #loadInviter(): Promise<void> {
    if (this.code === "") return;
    try {
      this.inviter = await getInviter(this.code);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.isOutdated = true;
    }
  }
}
