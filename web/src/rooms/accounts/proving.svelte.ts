/** What protects the account changes only for somebody who proved within the last minutes who they are. */
import { Problem } from "../../client";
import { TurnedDown } from "../../ui/forms/saving.svelte";

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (reason: TurnedDown) => void;
}

class Proving {
  /** Somebody is asked right now. */
  waiting = $state.raw<Waiting | null>(null);

  /** The work, after a proof where the server asks for one. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "proof_needed") throw error;
    }
    await new Promise<void>((resolve, reject) => {
      this.waiting = { resolve, reject };
    });
    return work();
  }

  proven(): void {
    this.waiting?.resolve();
    this.waiting = null;
  }

  turnDown(): void {
    this.waiting?.reject(new TurnedDown());
    this.waiting = null;
  }
}

export const proving = new Proving();
