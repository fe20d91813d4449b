import { describe, expect, test, vi } from "vitest";
import { Pull, pulledTo, REFRESH_PX } from "../../src/rooms/feed/pull.svelte";
import { SheetDrag } from "../../src/ui/sheetDrag.svelte";

function finger(type: string, y: number, x = 100): void {
  const event = new Event(type);
  const touches = type === "touchend" ? [] : [{ clientX: x, clientY: y }];
  dispatchEvent(Object.assign(event, { touches }));
}

async function pullBy(refresh: () => Promise<unknown>, ...ys: number[]): Promise<Pull> {
  const pull = new Pull(refresh);
  const stop = pull.listen();
  finger("touchstart", 100);
  for (const y of ys) finger("touchmove", y);
  finger("touchend", 0);
  await vi.waitFor(() => expect(pull.isRefreshing).toBe(false));
  stop();
  return pull;
}

describe("pulling to refresh", () => {
  test("follows the finger ever more slowly, and not a tap", () => {
    expect(pulledTo(5)).toBe(0);
    const steps = [60, 120, 180, 240].map(pulledTo);
    const gains = steps.map((step, index) => step - (steps[index - 1] ?? 0));
    expect(gains).toEqual(gains.toSorted((a, b) => b - a));
    expect(pulledTo(10_000)).toBeGreaterThan(REFRESH_PX);
  });
  test("refreshes when it was pulled far enough, and not before", async () => {
    const refresh = vi.fn(async () => {});
    await pullBy(refresh, 150);
    expect(refresh).not.toHaveBeenCalled();
    const pull = await pullBy(refresh, 300, 500);
    expect(refresh).toHaveBeenCalledOnce();
    expect(pull.offset_px).toBe(0);
  });
  test("leaves sideways swipes and scrolled pages alone", async () => {
    const refresh = vi.fn(async () => {});
    const pull = new Pull(refresh);
    const stop = pull.listen();
    finger("touchstart", 100);
    finger("touchmove", 110, 200);
    finger("touchmove", 600, 210);
    finger("touchend", 0);
    stop();
    expect(refresh).not.toHaveBeenCalled();
  });
});

describe("a sheet", () => {
  function drag(sheet: SheetDrag, to: number, ms: number): void {
    const handle = document.createElement("div");
    handle.setPointerCapture = () => {};
    const event = (clientY: number, timeStamp: number) =>
      ({
        clientY,
        timeStamp,
        pointerId: 1,
        target: handle,
        currentTarget: handle,
      }) as unknown as PointerEvent & {
        currentTarget: HTMLElement;
      };
    sheet.down(event(0, 0));
    sheet.move(event(to, ms));
    expect(sheet.offset_px).toBe(Math.max(0, to));
    sheet.up(event(to, ms));
  }

  test.each([
    { to: 60, ms: 2000, isClosed: false },
    { to: 60, ms: 60, isClosed: true },
    { to: 500, ms: 5000, isClosed: true },
    { to: -200, ms: 50, isClosed: false },
  ])("pulled by $to px in $ms ms closes: $isClosed", ({ to, ms, isClosed }) => {
    const onclose = vi.fn();
    const sheet = new SheetDrag(onclose);
    drag(sheet, to, ms);
    expect(onclose).toHaveBeenCalledTimes(isClosed ? 1 : 0);
    expect(sheet.offset_px).toBe(0);
  });
});
