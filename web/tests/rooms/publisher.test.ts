import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { retryNow } from "../../src/base/backoff";
import { api, type Post, Problem } from "../../src/client";
import * as scheduledPosts from "../../src/client/scheduledPosts";
import { uploadResumably } from "../../src/client/tus";
import { session } from "../../src/rooms/accounts";
import { listDrafts } from "../../src/rooms/posts/create/savedDraft";
import { drafts, publisher } from "../../src/rooms/posts/publishing";
import { sampleMedia } from "./sampleMedia";
import { samplePost } from "./samplePosts";

vi.mock("../../src/client/tus", () => ({ uploadResumably: vi.fn(), cancelResumable: vi.fn(async () => {}) }));
const uploading = vi.mocked(uploadResumably);

type ScheduledPost = scheduledPosts.ScheduledPost;
const ACCOUNT = "7";
const OFFLINE = new Problem({ status: 0, code: "offline" });
const photo = () => new File(["x"], "hills.jpg", { type: "image/jpeg" });

async function compose(...files: File[]): Promise<void> {
  await drafts.startNew();
  drafts.current?.draft.add(files);
  if (drafts.current) drafts.current.draft.caption = "Hills";
}

describe("the publisher", () => {
  let publishing: MockInstance<typeof api.publish>;
  let published: (Post | ScheduledPost | null)[];
  let stopListening: () => void;

  beforeEach(() => {
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(null, { status: 204 })));
    session.account = { account_id: ACCOUNT } as NonNullable<typeof session.account>;
    uploading.mockReset().mockResolvedValue(sampleMedia("m1"));
    publishing = vi.spyOn(api, "publish").mockResolvedValue(samplePost(1));
    published = [];
    stopListening = publisher.onPublished((post) => published.push(post));
  });
  afterEach(async () => {
    stopListening();
    publisher.close();
    drafts.close();
    for (const { key } of await listDrafts(ACCOUNT)) await drafts.remove(key);
    session.account = null;
  });

  test("publishes a draft once, however often it is submitted, and forgets it", async () => {
    await compose(photo());
    await Promise.all([publisher.submit(), publisher.submit()]);
    await vi.waitFor(() => expect(published).toHaveLength(1));

    expect(publishing).toHaveBeenCalledOnce();
    expect(publisher.jobs).toEqual([]);
    expect(await listDrafts(ACCOUNT)).toEqual([]);
  });

  test("goes on by itself when the connection is back, with the same key and content", async () => {
    publishing.mockRejectedValueOnce(OFFLINE);
    await compose(photo());
    await publisher.submit();
    await vi.waitFor(() => expect(publisher.jobs[0]?.problem).toBe(OFFLINE));
    expect((await listDrafts(ACCOUNT))[0]?.isPublishing).toBe(true);
    retryNow();
    await vi.waitFor(() => expect(published).toHaveLength(1));

    expect(publishing.mock.calls[1]).toEqual(publishing.mock.calls[0]);
  });

  test("goes on after a reload with what was stored", async () => {
    publishing.mockRejectedValueOnce(OFFLINE);
    await compose(photo());
    await publisher.submit();
    await vi.waitFor(() => expect(publisher.jobs[0]?.problem).toBe(OFFLINE));
    publisher.close(); // As the page that is left does.
    await publisher.resume();
    await vi.waitFor(() => expect(published).toHaveLength(1));

    expect(publishing.mock.calls[1]).toEqual(publishing.mock.calls[0]);
  });

  test("schedules a draft that has a time, once, and takes it for done when it has been published since", async () => {
    const answer = { scheduled_id: "5", publish_at: "2040-01-01T10:00:00.000Z" } as ScheduledPost;
    const later = vi
      .spyOn(scheduledPosts, "schedulePost")
      .mockRejectedValueOnce(OFFLINE)
      .mockResolvedValueOnce(answer);
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    await compose(photo());
    if (drafts.current) drafts.current.draft.publishAt = soon;
    await publisher.submit();
    await vi.waitFor(() => expect(publisher.jobs[0]?.problem).toBe(OFFLINE));
    publisher.close(); // As the page that is left does.
    await publisher.resume();
    await vi.waitFor(() => expect(published).toEqual([answer]));

    expect(later.mock.calls[1]).toEqual(later.mock.calls[0]);
    expect(later.mock.calls[0]?.[0].publish_at).toBe(soon);
    expect(publishing).not.toHaveBeenCalled();

    later.mockRejectedValueOnce(new Problem({ status: 409, code: "scheduled_post_published" }));
    await compose(photo());
    if (drafts.current) drafts.current.draft.publishAt = soon;
    await publisher.submit();
    await vi.waitFor(() => expect(published).toEqual([answer, null]));
  });

  test("takes an earlier post with the same key for its own", async () => {
    publishing.mockRejectedValueOnce(new Problem({ status: 409, code: "idempotency_key_reused" }));
    await compose(photo());
    await publisher.submit();
    await vi.waitFor(() => expect(published).toEqual([null]));
    expect(publishing).toHaveBeenCalledOnce();
  });

  test("sends the files again when the server has deleted them, but only once", async () => {
    publishing.mockRejectedValue(new Problem({ status: 422, code: "media_invalid" }));
    await compose(photo());
    await publisher.submit();
    await vi.waitFor(() => expect(publisher.jobs[0]?.isStopped).toBe(true));

    expect(uploading).toHaveBeenCalledTimes(2);
  });

  test("stops at a file that the server refuses, names it, and publishes the rest when told to", async () => {
    await compose(photo(), new File(["?"], "broken.jpg", { type: "image/jpeg" }));
    uploading.mockImplementation(async (file) => {
      if ((file as File).name === "broken.jpg") throw new Problem({ status: 422, code: "media_refused" });
      return sampleMedia("m1");
    });
    await publisher.submit();
    await vi.waitFor(() => expect(publisher.jobs[0]?.isStopped).toBe(true));
    const [job] = publisher.jobs;
    expect(job?.draft.failed.map(({ name }) => name)).toEqual(["broken.jpg"]);
    if (job) publisher.retry(job, { withoutFailed: true });
    await vi.waitFor(() => expect(published).toHaveLength(1));

    expect(publishing.mock.calls[0]?.[0].media_ids).toEqual(["m1"]);
  });

  test("gives a draft that was rejected back to be changed", async () => {
    publishing.mockRejectedValueOnce(new Problem({ status: 422, code: "caption_invalid" }));
    await compose(photo());
    await publisher.submit();
    await vi.waitFor(() => expect(publisher.jobs[0]?.isStopped).toBe(true));
    const [job] = publisher.jobs;
    if (job) await publisher.reopen(job);

    expect(drafts.current?.draft.caption).toBe("Hills");
    expect(publisher.jobs).toEqual([]);
    expect((await listDrafts(ACCOUNT))[0]?.isPublishing).toBe(false);
  });

  test("keeps several drafts, and opens the one changed last", async () => {
    await compose(photo());
    await compose(photo(), photo());
    await vi.waitFor(() => expect(drafts.others).toHaveLength(1));
    const [other] = drafts.others;
    expect(await drafts.open(other?.key ?? "")).toBe(true);

    expect(drafts.current?.draft.uploads).toHaveLength(1);
    expect(drafts.others[0]?.uploads).toHaveLength(2);
  });
});
