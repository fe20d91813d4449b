/** The update log: in order, each once, without gaps, whatever is lost, doubled or late. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Problem } from "../../src/client";
import type { Update } from "../../src/live/contract";
import { type SyncPage, UpdateLog } from "../../src/live/updateLog";

const update = (seq: number): Update => ({ seq, kind: "notification", at: "", payload: {} });
const page = (from: number, to: number, more: Partial<SyncPage> = {}): SyncPage => ({
  updates: Array.from({ length: to - from + 1 }, (_, index) => update(from + index)) as SyncPage["updates"],
  seq: to,
  has_more: false,
  is_reset: false,
  ...more,
});

function open(position: number | null, ...pages: (SyncPage | Problem)[]) {
  const delivered: number[] = [];
  const resets: number[] = [];
  const remembered: number[] = [];
  const read = vi.fn(async (_since: number | null): Promise<SyncPage> => {
    const next = pages.shift();
    if (next === undefined) throw new Error("read more often than expected");
    if (next instanceof Problem) throw next;
    return next;
  });
  const log = new UpdateLog(
    {
      read,
      deliver: ({ seq }) => delivered.push(seq),
      reset: (seq) => resets.push(seq),
      remember: (seq) => remembered.push(seq),
    },
    position,
  );
  return { log, delivered, resets, remembered, read };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the update log", () => {
  test("delivers what comes in order, and drops what it knows", () => {
    const { log, delivered, read } = open(4);
    for (const seq of [5, 5, 6, 4, 7]) log.receive(update(seq));

    expect(delivered).toEqual([5, 6, 7]);
    expect(read).not.toHaveBeenCalled();
  });

  test("reads what is missing before an update that came ahead", async () => {
    const { log, delivered, read } = open(4, page(5, 7));
    log.receive(update(7));
    expect(delivered).toEqual([]);

    await vi.waitFor(() => expect(delivered).toEqual([5, 6, 7]));
    expect(read).toHaveBeenCalledExactlyOnceWith(4);
  });

  test("delivers what arrives while a gap is read after the gap", async () => {
    const { log, delivered } = open(4, page(5, 6));
    log.receive(update(6));
    log.receive(update(7));

    await vi.waitFor(() => expect(delivered).toEqual([5, 6, 7]));
  });

  test("reads all pages, and remembers how far it has come", async () => {
    const { log, delivered, remembered } = open(0, page(1, 2, { seq: 3, has_more: true }), page(3, 3));
    await log.catchUp();

    expect(delivered).toEqual([1, 2, 3]);
    expect(remembered.at(-1)).toBe(3);
  });

  test("begins where the log is on a first visit, and says that everything is to be fetched", async () => {
    const { log, delivered, resets } = open(null, page(1, 0, { seq: 40, is_reset: true }));
    log.receive(update(40));
    await log.catchUp();
    log.receive(update(41));

    expect(resets).toEqual([40]);
    expect(delivered).toEqual([41]);
  });

  test("starts anew where the log does not reach back", async () => {
    const { log, delivered, resets } = open(3, page(1, 0, { seq: 900, is_reset: true }));
    await log.catchUp();
    log.receive(update(901));

    expect(resets).toEqual([900]);
    expect(delivered).toEqual([901]);
  });

  test("starts anew rather than reading a thousand updates", async () => {
    const { log, delivered, resets } = open(3, page(4, 503, { seq: 2_000, has_more: true }));
    await log.catchUp();

    expect(resets).toEqual([2_000]);
    expect(delivered).toEqual([]);
  });

  test("starts anew after a server was restored to an earlier time", async () => {
    const { log, delivered, resets } = open(50, page(1, 0, { seq: 30, is_reset: true }));
    await log.catchUp();
    log.receive(update(31));

    expect(resets).toEqual([30]);
    expect(delivered).toEqual([31]);
  });

  test("tries by itself again after a failure", async () => {
    const { log, delivered } = open(4, new Problem({ status: 503, code: "unavailable" }), page(5, 6));
    log.receive(update(6));
    await vi.advanceTimersByTimeAsync(2_000);

    expect(delivered).toEqual([5, 6]);
  });

  test("delivers nothing after its end", async () => {
    const { log, delivered } = open(4, page(5, 6));
    const reading = log.catchUp();
    log.end();
    await reading;
    log.receive(update(5));

    expect(delivered).toEqual([]);
  });
});
