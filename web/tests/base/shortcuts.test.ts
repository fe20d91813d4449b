import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { setPref } from "../../src/base/prefs.svelte";
import { shortcuts } from "../../src/base/shortcuts.svelte";

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
    remove = shortcuts.add({ key: "j", label: "shortcuts.next", run });
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

  test("is ignored while typing", () => {
    press("j", document.body.appendChild(document.createElement("textarea")));
    expect(run).not.toHaveBeenCalled();
  });

  test("is ignored with a modifier key", () => {
    press("j", document.body, { ctrlKey: true });
    expect(run).not.toHaveBeenCalled();
  });

  test("is ignored under a dialog", () => {
    const dialog = document.body.appendChild(document.createElement("dialog"));
    dialog.setAttribute("open", "");
    press("j");
    expect(run).not.toHaveBeenCalled();
  });

  test("can be turned off, and Escape still works", () => {
    const close = vi.fn();
    const removeClose = shortcuts.add({ key: "Escape", label: "shortcuts.close", run: close });
    setPref("shortcuts", false);
    press("j");
    press("Escape");
    expect(run).not.toHaveBeenCalled();
    expect(close).toHaveBeenCalledOnce();
    removeClose();
  });

  test("is overridden by one registered later", () => {
    const later = vi.fn();
    const removeLater = shortcuts.add({ key: "j", label: "shortcuts.open", run: later });
    press("j");
    expect(later).toHaveBeenCalledOnce();
    expect(run).not.toHaveBeenCalled();
    removeLater();
  });

  test("is listed before global ones", () => {
    const removeHelp = shortcuts.add({ key: "?", label: "shortcuts.help", run, isGlobal: true });
    const removeNext = shortcuts.add({ key: "k", label: "shortcuts.previous", run });
    expect(shortcuts.listed.map(({ key }) => key)).toEqual(["j", "k", "?"]);
    removeHelp();
    removeNext();
  });
});

describe("a sequence of two keys", () => {
  const run = vi.fn();
  const single = vi.fn();
  let remove: () => void;

  beforeEach(() => {
    run.mockClear();
    single.mockClear();
    vi.useFakeTimers();
    remove = shortcuts.add(
      { key: "g h", label: "nav.home", run },
      { key: "h", label: "shortcuts.help", run: single },
    );
  });
  afterEach(() => {
    remove();
    vi.useRealTimers();
  });

  test("runs when both are pressed in a row, and the second key alone is not run", () => {
    press("g");
    press("h");
    expect([run.mock.calls.length, single.mock.calls.length]).toEqual([1, 0]);
    press("h");
    expect(single).toHaveBeenCalledOnce();
  });

  test("expires after a moment", () => {
    press("g");
    vi.advanceTimersByTime(2_000);
    press("h");
    expect([run.mock.calls.length, single.mock.calls.length]).toEqual([0, 1]);
  });
});
