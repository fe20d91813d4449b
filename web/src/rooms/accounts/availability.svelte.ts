/** Whether a username can be had, told while it is typed; the server decides again when it is taken. */
import { isUsernameFree } from "../../client/entering";
import { explain } from "../../ui";
import { checkUsername } from "./checks";

const PAUSE_MS = 350;

export type Standing = "unknown" | "checking" | "free" | "taken";

export class Availability {
  standing = $state.raw<Standing>("unknown");
  reason = $state.raw("");
  #timer = 0;
  #running: AbortController | null = null;

  look(text: string, own = ""): void {
    const username = text.trim().toLowerCase();
    this.#running?.abort();
    window.clearTimeout(this.#timer);
    this.reason = "";
    this.standing = "unknown";
    if (username === own || checkUsername(username) !== null) return;
    this.standing = "checking";
    this.#timer = window.setTimeout(() => void this.#ask(username), PAUSE_MS);
  }

  async #ask(username: string): Promise<void> {
    const turn = new AbortController();
    this.#running = turn;
    try {
      const isFree = await isUsernameFree(username, turn.signal);
      if (!turn.signal.aborted) this.standing = isFree ? "free" : "taken";
    } catch (error) {
      if (turn.signal.aborted) return;
      this.standing = "unknown";
      this.reason = explain(error);
    }
  }
}
