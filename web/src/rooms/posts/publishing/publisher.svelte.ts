/**
 * Publishes drafts in the background: while one browses, after a reload, and once the connection is back. Each becomes exactly one
 * post: one tab works on it at a time, and its key makes the server answer a repeated request with the first one's post.
 */
import { Backoff } from "../../../base/backoff";
import { type Post, Problem } from "../../../client";
import type { ScheduledPost } from "../../../client/scheduledPosts";
import { classifyFailure } from "../../../offline";
import { session } from "../../accounts";
import { Draft } from "../create/draft.svelte";
import { drafts } from "../create/drafts.svelte";
import { OpenDraft } from "../create/openDraft.svelte";
import { findDraft, listDrafts } from "../create/savedDraft";
import { onDraftsChanged } from "../create/tabs";

/** A draft on its way. `problem`: why it waits for another attempt, or why it stopped. */
export class Job {
  readonly opened: OpenDraft;
  isStopped = $state.raw(false);
  problem = $state.raw<unknown>(null);
  readonly abort = new AbortController();

  constructor(opened: OpenDraft) {
    this.opened = opened;
  }

  get draft(): Draft {
    return this.opened.draft;
  }
}

/** Called with the new post, or the scheduled one; null when it turned out to have been published before. */
type PublishedListener = (post: Post | ScheduledPost | null) => void;

class Publisher {
  jobs = $state.raw<readonly Job[]>([]);
  /** Drafts that this tab publishes, or waits for another tab to publish. */
  readonly #known = new Set<string>();
  readonly #listeners = new Set<PublishedListener>();

  /** Publishes the draft that is being composed; false where that is not possible. */
  async submit(): Promise<boolean> {
    const { current } = drafts;
    if (current === null || !current.draft.submit()) return false;
    drafts.release();
    this.#known.add(current.draft.key);
    const job = this.#add(current);
    await current.save();
    void this.#run(job);
    return true;
  }

  /** Continues what earlier visits, and tabs that were closed, have not finished. */
  async resume(): Promise<void> {
    const accountId = session.account?.account_id;
    if (accountId === undefined) return;
    for (const { key, isPublishing } of await listDrafts(accountId))
      if (isPublishing && !this.#known.has(key)) void this.#resume(key, accountId);
  }

  /** Tries a stopped job again; `withoutFailed` leaves out what the server refused. */
  retry(job: Job, { withoutFailed = false } = {}): void {
    if (!job.isStopped) return;
    if (withoutFailed) for (const upload of job.draft.failed) job.draft.remove(upload);
    else for (const upload of job.draft.failed) job.draft.retry(upload);
    job.isStopped = false;
    void this.#run(job);
  }

  /** Takes a job back to be composed again. */
  async reopen(job: Job): Promise<void> {
    job.abort.abort();
    job.draft.reopen();
    this.#remove(job);
    await job.opened.save();
    await drafts.adopt(job.opened);
  }

  onPublished(listener: PublishedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The account has changed. What is stored goes on when its owner signs in again. */
  close(): void {
    for (const job of this.jobs) {
      job.abort.abort();
      job.opened.close();
    }
    this.jobs = [];
    this.#known.clear();
  }

  async #resume(key: string, accountId: string): Promise<void> {
    this.#known.add(key);
    const make = async () => {
      const saved = await findDraft(key);
      if (!saved?.isPublishing || session.account?.account_id !== accountId) return null;
      return { draft: await Draft.restore(saved), isStored: true };
    };
    const opened = await OpenDraft.open(key, make, null);
    if (opened === null) this.#known.delete(key);
    else await this.#run(this.#add(opened));
  }

  /** Works on a job until it is published, stopped or taken back. */
  async #run(job: Job): Promise<void> {
    const { signal } = job.abort;
    const backoff = new Backoff();
    let mayStartAgain = true;
    while (!signal.aborted) {
      try {
        job.problem = null;
        const post = await job.draft.publish(() => job.opened.save());
        if (post === null) return this.#stop(job, job.draft.failed[0]?.failure);
        return await this.#finish(job, post);
      } catch (error) {
        if (signal.aborted) return;
        if (isPublishedAlready(error)) return await this.#finish(job, null);
        if (isMediaGone(error) && mayStartAgain && job.draft.startAgain()) {
          mayStartAgain = false;
          continue;
        }
        const kind = classifyFailure(error);
        job.problem = error;
        if (kind === "rejected") return this.#stop(job, error);
        if (kind === "signedOut") return; // `close` follows; it goes on when its owner signs in again.
        await backoff.wait(signal, error instanceof Problem ? error.retryAfterS * 1_000 : 0);
      }
    }
  }

  async #finish(job: Job, post: Post | ScheduledPost | null): Promise<void> {
    this.#remove(job);
    await job.opened.delete();
    if (drafts.current === job.opened) await drafts.startNew(); // It was taken back while its last request was on the way.
    for (const listener of this.#listeners) listener(post);
  }

  #stop(job: Job, problem: unknown): void {
    job.problem = problem;
    job.isStopped = true;
  }

  #add(opened: OpenDraft): Job {
    const job = new Job(opened);
    this.jobs = [...this.jobs, job];
    return job;
  }

  #remove(job: Job): void {
    this.jobs = this.jobs.filter((other) => other !== job);
    this.#known.delete(job.draft.key);
  }
}

/** The request that seemed lost arrived: its media had expired and were sent anew, or its time has come since. */
function isPublishedAlready(error: unknown): boolean {
  return (
    error instanceof Problem && ["idempotency_key_reused", "scheduled_post_published"].includes(error.code)
  );
}

/** The server deletes media that nobody posted for a day. */
function isMediaGone(error: unknown): boolean {
  return error instanceof Problem && ["media_invalid", "media_not_found"].includes(error.code);
}

export const publisher = new Publisher();
session.onChange(() => publisher.close());
onDraftsChanged(() => void publisher.resume());
