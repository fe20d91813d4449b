import { expect, test } from "vitest";
import { read } from "../../src/rooms/stories/gestures";

const box = { left: 0, width: 300 };
const at = (x: number, y = 100, at_ms = 0) => ({ x, y, at_ms });

test("a tap leads on, one on the near third leads back", () => {
  expect(read(at(200), at(200, 100, 90), box, false)).toBe("next");
  expect(read(at(40), at(40, 100, 90), box, false)).toBe("previous");
});

test("in right-to-left text the sides change", () => {
  expect(read(at(40), at(40, 100, 90), box, true)).toBe("next");
  expect(read(at(290), at(290, 100, 90), box, true)).toBe("previous");
});

test("holding changes nothing", () => {
  expect(read(at(200), at(202, 101, 900), box, false)).toBe("none");
});

test("swiping changes the person, pulling down closes", () => {
  expect(read(at(250), at(90, 110, 200), box, false)).toBe("nextPerson");
  expect(read(at(90), at(250, 110, 200), box, false)).toBe("previousPerson");
  expect(read(at(90), at(250, 110, 200), box, true)).toBe("nextPerson");
  expect(read(at(90), at(100, 300, 200), box, false)).toBe("close");
});
