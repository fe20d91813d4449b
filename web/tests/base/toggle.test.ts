import { describe, expect, test, vi } from "vitest";
import { Toggle } from "../../src/base/toggle";

interface Call {
  on: boolean;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** A server that answers when told to. */
function setUp(confirmed: boolean) {
  const shown: boolean[] = [];
  const calls: Call[] = [];
  const failed = vi.fn();
  const toggle = new Toggle(confirmed, {
    show: (on) => shown.push(on),
    send: (on) => new Promise((resolve, reject) => calls.push({ on, resolve, reject })),
    failed,
  });
  return { toggle, shown, calls, failed };
}

async function tick(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

describe("a toggle", () => {
  test("shows a wish before the server has answered", () => {
    const { toggle, shown, calls } = setUp(false);
    void toggle.set(true);

    expect(shown).toEqual([true]);
    expect(calls.map(({ on }) => on)).toEqual([true]);
    expect(toggle.isSettled).toBe(false);
  });

  test("asks for nothing when the wish is already true", async () => {
    const { toggle, shown, calls } = setUp(true);
    await toggle.set(true);

    expect(shown).toEqual([]);
    expect(calls).toEqual([]);
  });

  test("rolls back and says so when the server refuses", async () => {
    const { toggle, shown, calls, failed } = setUp(false);
    const done = toggle.set(true);
    calls[0]?.reject(new Error("no"));
    await done;

    expect(shown).toEqual([true, false]);
    expect(failed).toHaveBeenCalledExactlyOnceWith(true, expect.any(Error));
    expect(toggle.isSettled).toBe(true);
  });

  test("sends one request at a time and ends with the last wish", async () => {
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

  test("sends nothing more when the wish came back to what the server holds", async () => {
    const { toggle, calls } = setUp(false);
    const done = toggle.set(true);
    void toggle.set(false);
    void toggle.set(true);
    calls[0]?.resolve();
    await done;

    expect(calls).toHaveLength(1);
  });

  test("does not complain about a wish that was withdrawn before it failed", async () => {
    const { toggle, shown, calls, failed } = setUp(false);
    const done = toggle.set(true);
    void toggle.set(false);
    calls[0]?.reject(new Error("no"));
    await done;

    expect(failed).not.toHaveBeenCalled();
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
