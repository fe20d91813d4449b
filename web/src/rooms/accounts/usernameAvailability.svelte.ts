/** Checks while typing whether a username is available; the server checks again when it is claimed. */
import { DebouncedRequest } from "../../base/debouncedRequest";
import { isUsernameFree } from "../../client/login";
import { errorMessage } from "../../ui";
import { checkUsername } from "./validation";

const DEBOUNCE_MS = 350;

export class UsernameAvailability {
  status = $state.raw<"unknown" | "checking" | "free" | "taken">("unknown");
  reason = $state.raw("");
  readonly #request = new DebouncedRequest();

  /** Checks the text unless it is malformed or the username that the account has already. */
  check(text: string, own = ""): void {
    const username = text.trim().toLowerCase();
    this.#request.cancel();
    this.reason = "";
    this.status = "unknown";
    if (username === own || checkUsername(username) !== null) return;
    this.status = "checking";
    this.#request.schedule(DEBOUNCE_MS, (signal) => this.#check(username, signal));
  }

  async #check(username: string, signal: AbortSignal): Promise<void> {
    try {
      const isFree = await isUsernameFree(username, signal);
      if (!signal.aborted) this.status = isFree ? "free" : "taken";
    } catch (error) {
      if (signal.aborted) return;
      this.status = "unknown";
      this.reason = errorMessage(error);
    }
  }
}
