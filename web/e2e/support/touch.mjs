// Real touch events, sent through the DevTools protocol: the browser makes pointer events of them as it does of fingers.

const STEPS = 8;
/** Longer than a hold takes. */
const HOLD_MS = 450;

export async function openTouch(page) {
  const session = await page.context().newCDPSession(page);
  const send = (type, ...points) =>
    session.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: points.map(([x, y], id) => ({ x, y, id })),
    });
  /** Fingers from their first to their second position. */
  async function drag(...fingers) {
    await send("touchStart", ...fingers.map(([from]) => from));
    for (let step = 1; step <= STEPS; step++)
      await send("touchMove", ...fingers.map(([from, to]) => between(from, to, step / STEPS)));
    await send("touchEnd");
  }
  return {
    /** Holds a finger still until the element is picked up, then drags it. */
    async pickUp(from, to) {
      await send("touchStart", from);
      await page.waitForTimeout(HOLD_MS);
      for (let step = 1; step <= STEPS; step++) await send("touchMove", between(from, to, step / STEPS));
      await send("touchEnd");
    },
    /** A finger that stays where it ends, until `lift`. */
    async hold(from, to) {
      await send("touchStart", from);
      for (let step = 1; step <= STEPS; step++) await send("touchMove", between(from, to, step / STEPS));
    },
    lift: () => send("touchEnd"),
    swipe: (from, to) => drag([from, to]),
    pinch: ([x, y], from, to) =>
      drag(
        [
          [x - from, y],
          [x - to, y],
        ],
        [
          [x + from, y],
          [x + to, y],
        ],
      ),
    /** Two fingers around a point, apart by so much before and after, while they turn clockwise. */
    turn: ([x, y], from, to, degrees) =>
      drag([[x - from, y], around([x, y], to, 180 + degrees)], [[x + from, y], around([x, y], to, degrees)]),
    async doubleTap(x, y) {
      for (let taps = 0; taps < 2; taps++) {
        await send("touchStart", [x, y]);
        await send("touchEnd");
      }
    },
  };
}

function around([x, y], radius, degrees) {
  const angle = (degrees * Math.PI) / 180;
  return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
}

function between([x, y], [toX, toY], share) {
  return [x + (toX - x) * share, y + (toY - y) * share];
}
