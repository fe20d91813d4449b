/** The offer to fill a fresh site, and how far the filling is. */
import { beginDemo, type DemoStand, findDemo } from "../../client/demo";

const LOOK_AGAIN_MS = 1_000;
const NEWS_EVERY = 5;

export class DemoOffer {
  stand = $state.raw<DemoStand | null>(null);
  failure = $state.raw<unknown>(null);
  /** It is known whether there is an offer. */
  isAsked = $state(false);
  readonly isRunning = $derived(this.stand?.state === "running");
  readonly share = $derived(
    this.stand === null || this.stand.total === 0 ? 0 : this.stand.done / this.stand.total,
  );

  /** Whether there is an offer is a courtesy: when it cannot be asked, there is none. */
  async load(): Promise<void> {
    this.stand = await findDemo().catch(() => null);
    this.isAsked = true;
  }

  async begin(): Promise<void> {
    this.failure = null;
    try {
      this.stand = await beginDemo();
    } catch (error) {
      this.failure = error;
    }
  }

  /** Looks again until the work has ended, and says now and then that there may be posts; returns how to stop. */
  watch(onnews: () => void): () => void {
    let looks = 0;
    const timer = setInterval(async () => {
      const stand = await findDemo().catch(() => this.stand); // A look that failed says nothing about the work.
      looks += 1;
      if (looks % NEWS_EVERY === 0 || stand?.state !== "running") onnews();
      this.stand = stand;
    }, LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }
}
