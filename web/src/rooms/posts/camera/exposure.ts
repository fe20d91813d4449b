/** Camera, lens and exposure as photographers write them; the same in every language but for the digits. */
import type { Media } from "../../../client";

export type Camera = NonNullable<Media["camera"]>;

const LONG_S = 0.3;

/** "Canon EOS R5 · RF35mm F1.8 · 35 mm · f/2.8 · 1/250 s · ISO 400", without what is not known. */
export function describeCamera(camera: Camera, locale: string): string {
  const { focal_length_mm, aperture, exposure_s, iso } = camera;
  const number = (value: number) =>
    new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false }).format(value);
  const parts = [
    camera.camera,
    camera.lens,
    focal_length_mm && `${number(focal_length_mm)} mm`,
    aperture && `f/${number(aperture)}`,
    exposure_s && `${formatExposure(exposure_s, number)} s`,
    iso && `ISO ${number(iso)}`,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Short times are fractions: 1/250. */
function formatExposure(seconds: number, number: (value: number) => string): string {
  return seconds < LONG_S ? `${number(1)}/${number(Math.round(1 / seconds))}` : number(seconds);
}
