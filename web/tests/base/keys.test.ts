import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { shortcuts } from "../../src/base/keys.svelte";
import { setPref } from "../../src/base/prefs.svelte";

function press(
  key: string,
  target: EventTarget = document.body,
  init: KeyboardEventInit = {},
): KeyboardEvent {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...init });
  Object.defineProperty(event, "target", { value: target });
  shortcuts.handle(event);
  return event;
}

describe("a shortcut", () => {
  const run = vi.fn();
  let remove: () => void;

  beforeEach(() => {
    run.mockClear();
    remove = shortcuts.add({ key: "j", label: "keys.next", run });
  });
  afterEach(() => {
    remove();
    setPref("shortcuts", true);
    document.body.innerHTML = "";
  });

  test("runs on its key", () => {
    expect(press("j").defaultPrevented).toBe(true);
    expect(run).toHaveBeenCalledOnce();
  });

  test("is silent while somebody types", () => {
    press("j", document.body.appendChild(document.createElement("textarea")));
    expect(run).not.toHaveBeenCalled();
  });

  test("leaves combinations to the browser", () => {
    press("j", document.body, { ctrlKey: true });
    expect(run).not.toHaveBeenCalled();
  });

  test("is silent under a dialog", () => {
    const dialog = document.body.appendChild(document.createElement("dialog"));
    dialog.setAttribute("open", "");
    press("j");
    expect(run).not.toHaveBeenCalled();
  });

  test("can be turned off, and Escape still works", () => {
    const close = vi.fn();
    const removeClose = shortcuts.add({ key: "Escape", label: "keys.close", run: close });
    setPref("shortcuts", false);
    press("j");
    press("Escape");
    expect(run).not.toHaveBeenCalled();
    expect(close).toHaveBeenCalledOnce();
    removeClose();
  });

  test("gives way to one registered later", () => {
    const later = vi.fn();
    const removeLater = shortcuts.add({ key: "j", label: "keys.open", run: later });
    press("j");
    expect(later).toHaveBeenCalledOnce();
    expect(run).not.toHaveBeenCalled();
    removeLater();
  });

  test("is listed before those of the whole app", () => {
    const removeHelp = shortcuts.add({ key: "?", label: "keys.help", run, isGlobal: true });
    const removeNext = shortcuts.add({ key: "k", label: "keys.previous", run });
    expect(shortcuts.listed.map(({ key }) => key)).toEqual(["j", "k", "?"]);
    removeHelp();
    removeNext();
  });
});

describe("a shortcut of two keys", () => {
  const run = vi.fn();
  const single = vi.fn();
  let remove: () => void;

  beforeEach(() => {
    run.mockClear();
    single.mockClear();
    vi.useFakeTimers();
    remove = shortcuts.add(
      { key: "g h", label: "nav.home", run },
      { key: "h", label: "keys.help", run: single },
    );
  });
  afterEach(() => {
    remove();
    vi.useRealTimers();
  });

  test("runs when both are pressed in a row, and the second then means nothing else", () => {
    press("g");
    press("h");
    expect([run.mock.calls.length, single.mock.calls.length]).toEqual([1, 0]);
    press("h");
    expect(single).toHaveBeenCalledOnce();
  });

  test("forgets the first key after a moment", () => {
    press("g");
    vi.advanceTimersByTime(2_000);
    press("h");
    expect([run.mock.calls.length, single.mock.calls.length]).toEqual([0, 1]);
  });
});
