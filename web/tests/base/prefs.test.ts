import { expect, test } from "vitest";
import { applyTheme } from "../../src/base/prefs.svelte";
import { readPrefs } from "../../src/base/storedPrefs";

const defaults = { theme: "auto", locale: "auto", shortcuts: true, autoload: true, feed: "ranked" };

test("nothing stored, or corrupt storage, means defaults", () => {
  for (const text of [null, "", "{", "null", "7", '"x"', '{"theme":"pink","locale":"xx"}']) {
    expect(readPrefs(text)).toEqual(defaults);
  }
});

test("stored choices are read", () => {
  const chosen = { theme: "dark", locale: "ar", shortcuts: false, autoload: false, feed: "following" };
  expect(readPrefs(JSON.stringify(chosen))).toEqual(chosen);
});

test("a theme is applied to the document, and auto removes it", () => {
  applyTheme("dark");
  expect(document.documentElement.dataset["theme"]).toBe("dark");
  applyTheme("auto");
  expect(document.documentElement.dataset["theme"]).toBeUndefined();
});
