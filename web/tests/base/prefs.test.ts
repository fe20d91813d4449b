import { expect, test } from "vitest";
import { readPrefs } from "../../src/base/chosen";
import { applyTheme } from "../../src/base/prefs.svelte";

const defaults = { theme: "auto", locale: "auto", shortcuts: true, autoload: true, feed: "ranked" };

test("nothing stored, or damaged storage, means defaults", () => {
  for (const text of [null, "", "{", "null", "7", '"x"', '{"theme":"pink","locale":"xx"}']) {
    expect(readPrefs(text)).toEqual(defaults);
  }
});

test("what was chosen is kept", () => {
  const chosen = { theme: "dark", locale: "ar", shortcuts: false, autoload: false, feed: "following" };
  expect(readPrefs(JSON.stringify(chosen))).toEqual(chosen);
});

test("a chosen theme is worn, and auto takes it off again", () => {
  applyTheme("dark");
  expect(document.documentElement.dataset["theme"]).toBe("dark");
  applyTheme("auto");
  expect(document.documentElement.dataset["theme"]).toBeUndefined();
});
