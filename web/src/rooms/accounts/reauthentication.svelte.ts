/** Sensitive changes require a recent authentication; when the server asks for one, this opens the reauthentication dialog. */
import { Problem } from "../../client";
import { Cancelled } from "../../ui/forms/submission.svelte";

interface PendingRequest {
  readonly resolve: () => void;
  readonly reject: (reason: Cancelled) => void;
}

class Reauthentication {
  /** The request that the open dialog is for; null while it is closed. */
  pending = $state.raw<PendingRequest | null>(null);

  /** Runs the work; where the server demands it, asks the user to authenticate and runs it again. Rejects when they cancel. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "proof_needed") throw error;
    }
    await new Promise<void>((resolve, reject) => {
      this.pending = { resolve, reject };
    });
    return work();
  }

  complete(): void {
    this.pending?.resolve();
    this.pending = null;
  }

  cancel(): void {
    this.pending?.reject(new Cancelled());
    this.pending = null;
  }
}

export const reauthentication = new Reauthentication();
