import { expect, test } from "vitest";
import { readGesture } from "../../src/rooms/stories/gestures";

const box = { left: 0, width: 300 };
const at = (x: number, y = 100, at_ms = 0) => ({ x, y, at_ms });

test("a tap goes on, one on the leading third goes back", () => {
  expect(readGesture(at(200), at(200, 100, 90), box, false)).toBe("next");
  expect(readGesture(at(40), at(40, 100, 90), box, false)).toBe("previous");
});

test("in right-to-left text the sides change", () => {
  expect(readGesture(at(40), at(40, 100, 90), box, true)).toBe("next");
  expect(readGesture(at(290), at(290, 100, 90), box, true)).toBe("previous");
});

test("holding does nothing", () => {
  expect(readGesture(at(200), at(202, 101, 900), box, false)).toBe("none");
});

test("swiping changes the person, swiping down closes", () => {
  expect(readGesture(at(250), at(90, 110, 200), box, false)).toBe("nextPerson");
  expect(readGesture(at(90), at(250, 110, 200), box, false)).toBe("previousPerson");
  expect(readGesture(at(90), at(250, 110, 200), box, true)).toBe("nextPerson");
  expect(readGesture(at(90), at(100, 300, 200), box, false)).toBe("close");
});
