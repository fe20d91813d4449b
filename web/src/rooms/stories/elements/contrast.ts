/** Black or white on a colour, whichever is easier to read. Pure. */

const DARK = "#171412";
const LIGHT = "#ffffff";

/** The relative luminance of a colour like "#d9b467", 0 to 1 (WCAG 2.2). */
export function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function readableOn(colour: string): string {
  return luminance(colour) > 0.3 ? DARK : LIGHT;
}
