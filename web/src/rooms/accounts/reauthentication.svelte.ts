/** Sensitive changes require a recent authentication; when the server asks for one, this opens the reauthentication dialog. */
import { Problem } from "../../client";
import { Cancelled } from "../../ui/forms/submission.svelte";

interface PendingRequest {
  /** Only the second factor will do: the account has an authenticator app. */
  readonly isFactorNeeded: boolean;
  readonly resolve: () => void;
  readonly reject: (reason: Cancelled) => void;
}

const CODES = ["proof_needed", "factor_needed"];

class Reauthentication {
  /** The request that the open dialog is for; null while it is closed. */
  pending = $state.raw<PendingRequest | null>(null);

  /** Runs the work; where the server demands it, asks the user to authenticate and runs it again. Rejects when they cancel. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    let isFactorNeeded = false;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem) || !CODES.includes(error.code)) throw error;
      isFactorNeeded = error.code === "factor_needed";
    }
    await new Promise<void>((resolve, reject) => {
      this.pending = { isFactorNeeded, resolve, reject };
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
