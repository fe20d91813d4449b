import { describe, expect, test, vi } from "vitest";
import { OptimisticToggle } from "../../src/base/optimisticToggle";

interface Call {
  on: boolean;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** A server that answers when the test says so. */
function setUp(confirmed: boolean) {
  const shown: boolean[] = [];
  const calls: Call[] = [];
  const onFailure = vi.fn();
  const toggle = new OptimisticToggle(confirmed, {
    show: (on) => shown.push(on),
    send: (on) => new Promise((resolve, reject) => calls.push({ on, resolve, reject })),
    onFailure,
  });
  return { toggle, shown, calls, onFailure };
}

async function tick(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

describe("a toggle", () => {
  test("shows the new state before the server has answered", () => {
    const { toggle, shown, calls } = setUp(false);
    void toggle.set(true);

    expect(shown).toEqual([true]);
    expect(calls.map(({ on }) => on)).toEqual([true]);
    expect(toggle.isSettled).toBe(false);
  });

  test("sends nothing when the state is unchanged", async () => {
    const { toggle, shown, calls } = setUp(true);
    await toggle.set(true);

    expect(shown).toEqual([]);
    expect(calls).toEqual([]);
  });

  test("rolls back and reports it when the server refuses", async () => {
    const { toggle, shown, calls, onFailure } = setUp(false);
    const done = toggle.set(true);
    calls[0]?.reject(new Error("no"));
    await done;

    expect(shown).toEqual([true, false]);
    expect(onFailure).toHaveBeenCalledExactlyOnceWith(true, expect.any(Error));
    expect(toggle.isSettled).toBe(true);
  });

  test("sends one request at a time and ends with the last press", async () => {
    const { toggle, calls } = setUp(false);
    const done = toggle.set(true);
    void toggle.set(false);
    void toggle.set(true);
    void toggle.set(false);
    expect(calls).toHaveLength(1);
    calls[0]?.resolve();
    await tick();
    expect(calls.map(({ on }) => on)).toEqual([true, false]);
    calls[1]?.resolve();
    await done;

    expect(toggle.isSettled).toBe(true);
  });

  test("sends nothing more when the last press matches the server's state", async () => {
    const { toggle, calls } = setUp(false);
    const done = toggle.set(true);
    void toggle.set(false);
    void toggle.set(true);
    calls[0]?.resolve();
    await done;

    expect(calls).toHaveLength(1);
  });

  test("does not report the failure of a press that was undone meanwhile", async () => {
    const { toggle, shown, calls, onFailure } = setUp(false);
    const done = toggle.set(true);
    void toggle.set(false);
    calls[0]?.reject(new Error("no"));
    await done;

    expect(onFailure).not.toHaveBeenCalled();
    expect(shown).toEqual([true, false]);
  });

  test("can be tried again after a failure", async () => {
    const { toggle, shown, calls } = setUp(false);
    const first = toggle.set(true);
    calls[0]?.reject(new Error("no"));
    await first;
    const second = toggle.set(true);
    calls[1]?.resolve();
    await second;

    expect(shown).toEqual([true, false, true]);
  });
});
