import { expect, test } from "vitest";
import { describeCamera } from "../../src/rooms/posts/camera/exposure";

test("camera, lens and exposure are written as photographers write them", () => {
  const whole = {
    camera: "Canon EOS R5",
    lens: "RF35mm F1.8",
    focal_length_mm: 35,
    aperture: 2.8,
    exposure_s: 0.004,
    iso: 1600,
  };
  expect(describeCamera(whole, "en")).toBe("Canon EOS R5 · RF35mm F1.8 · 35 mm · f/2.8 · 1/250 s · ISO 1600");
  expect(describeCamera({ aperture: 2.8, exposure_s: 2.5 }, "de")).toBe("f/2,8 · 2,5 s");
  expect(describeCamera({ iso: 100 }, "en")).toBe("ISO 100");
});
