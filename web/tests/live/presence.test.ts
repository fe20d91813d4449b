/** Who is active: asked for once for all who look, kept up to date by signals, and forgotten with the session. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Live, LiveState, PresenceSignal, Reply } from "../../src/live";
import { ObservableValue } from "../../src/live/observable";
import { PresenceStore } from "../../src/live/presence";

const active = (account_id: string, is_active = true): PresenceSignal => ({
  account_id,
  is_active,
  last_active_at: null,
});
const state = new ObservableValue<LiveState>("online");
let signal: (event: PresenceSignal) => void;
let command: ReturnType<typeof vi.fn<(kind: string, payload: object) => Promise<Reply>>>;
let store: PresenceStore;

beforeEach(() => {
  vi.useFakeTimers();
  state.set("online");
  command = vi.fn(async (_: string, payload: object) => ({
    presence: (payload as { account_ids: string[] }).account_ids
      .filter((id) => id !== "9")
      .map((id) => active(id)),
  }));
  const live = {
    state,
    command,
    onSignal: (_: string, handler: (event: PresenceSignal) => void) => {
      signal = handler;
      return () => {};
    },
  };
  store = new PresenceStore(live as unknown as Live);
});
afterEach(() => void vi.useRealTimers());

function look(...ids: string[]) {
  let seen: string[] = [];
  const end = store.watch(ids, (known) => {
    seen = [...known.values()].map(({ account_id, is_active }) => `${account_id} ${is_active}`);
  });
  return { end, seen: () => seen };
}

test("people who are looked at are asked for together", async () => {
  const [one, two] = [look("1", "9"), look("1", "2")];
  await vi.advanceTimersByTimeAsync(0);

  expect(command).toHaveBeenCalledExactlyOnceWith("presence.watch", { account_ids: ["1", "9", "2"] });
  expect(one.seen()).toEqual(["1 true"]);
  expect(two.seen()).toEqual(["1 true", "2 true"]);
});

test("changes are shown to those who look at that person", async () => {
  const one = look("1");
  await vi.advanceTimersByTimeAsync(0);
  signal(active("1", false));

  expect(one.seen()).toEqual(["1 false"]);
});

test("the question is asked again for as long as somebody looks", async () => {
  const { end } = look("1");
  await vi.advanceTimersByTimeAsync(9 * 60_000);
  expect(command).toHaveBeenCalledTimes(3);

  end();
  await vi.advanceTimersByTimeAsync(9 * 60_000);
  expect(command).toHaveBeenCalledTimes(3);
});

test("nothing of it is left when the session ends", async () => {
  look("1").end();
  await vi.advanceTimersByTimeAsync(0);
  state.set("off");

  expect(look("1").seen()).toEqual([]);
});
