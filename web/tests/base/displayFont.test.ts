import { afterEach, expect, test, vi } from "vitest";
import { cacheDisplayFont, isDisplayFontCached } from "../../src/base/displayFont";

function fontsThat(load: () => Promise<FontFace[]>) {
  const loading = vi.fn(load);
  Object.defineProperty(document, "fonts", { value: { load: loading }, configurable: true });
  return loading;
}

afterEach(() => {
  localStorage.clear();
  Object.defineProperty(document, "fonts", { value: undefined, configurable: true });
});

test("the font is downloaded once, and is known to be cached from then on", async () => {
  const load = fontsThat(async () => [{} as FontFace]);
  expect(isDisplayFontCached()).toBe(false);

  await cacheDisplayFont();
  await cacheDisplayFont();

  expect(isDisplayFontCached()).toBe(true);
  expect(load).toHaveBeenCalledTimes(1);
});

test.each([
  ["fails", async () => Promise.reject(new Error("no connection"))],
  ["finds no font", async () => []],
])("a download that %s is tried again at the next visit", async (_, load) => {
  fontsThat(load);

  await cacheDisplayFont().catch(() => {});

  expect(isDisplayFontCached()).toBe(false);
});

test("a browser that cannot load fonts by name is left alone", async () => {
  await cacheDisplayFont();

  expect(isDisplayFontCached()).toBe(false);
});
