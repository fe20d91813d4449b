/** The demo job, which fills a new site with invented people: whether it is offered, and its progress. */
import { type DemoStatus, getDemoStatus, startDemo } from "../../client/demo";

const POLL_MS = 1_000;
/** Every this many polls the feed is refreshed. */
const POLLS_PER_REFRESH = 5;

export class DemoJob {
  status = $state.raw<DemoStatus | null>(null);
  failure = $state.raw<unknown>(null);
  /** The status has been requested once. */
  isLoaded = $state(false);
  readonly isRunning = $derived(this.status?.state === "running");
  readonly share = $derived(
    this.status === null || this.status.total === 0 ? 0 : this.status.done / this.status.total,
  );

  /** Loads the status; on failure the demo is simply not offered. */
  async load(): Promise<void> {
    this.status = await getDemoStatus().catch(() => null);
    this.isLoaded = true;
  }

  async start(): Promise<void> {
    this.failure = null;
    try {
      this.status = await startDemo();
    } catch (error) {
      this.failure = error;
    }
  }

  /** Polls until the job ends and reports now and then that there may be new posts. Returns a function that stops it. */
  poll(onprogress: () => void): () => void {
    let polls = 0;
    const timer = setInterval(async () => {
      const status = await getDemoStatus().catch(() => this.status); // A failed poll says nothing about the job.
      polls += 1;
      if (polls % POLLS_PER_REFRESH === 0 || status?.state !== "running") onprogress();
      this.status = status;
    }, POLL_MS);
    return () => clearInterval(timer);
  }
}
