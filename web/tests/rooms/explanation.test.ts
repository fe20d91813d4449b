import { afterEach, expect, test } from "vitest";
import { language } from "../../src/base/i18n";
import type { Explanation } from "../../src/client/feed";
import { signalLabel, summarize } from "../../src/rooms/posts/menu/explanation";

function explanationOf(...reasons: string[]): Explanation {
  const rest = { score: 1, weights: "1", arm: "", outcomes: [], signals: [], factors: {} };
  return { post_id: "1", summary: "In English.", reasons, ...rest };
}

async function setLanguage(code: "en" | "de" | "ar"): Promise<void> {
  await language.use(code);
  await language.loadNamespaces("posts");
}

afterEach(() => language.use("en"));

test("the summary is in the current language, strongest reason first", async () => {
  await setLanguage("en");
  expect(summarize(explanationOf("freshness", "affinity"))).toBe(
    "It is here because it is new and you are close to its author.",
  );
  await setLanguage("de");
  expect(summarize(explanationOf("freshness", "popularity"))).toBe(
    "Er steht hier, weil er neu ist und gerade viele auf ihn reagieren.",
  );
});

test("the summary mentions that a post was seen before", async () => {
  await setLanguage("en");
  expect(summarize(explanationOf("seen"))).toBe(
    "Its position depends on its age. You have seen it before, so it comes later.",
  );
});

test("an unknown signal has the server's description", async () => {
  await setLanguage("en");
  const signal = { words: "How loud it is.", value: 1, contributions: {} };
  expect(signalLabel({ name: "loudness", ...signal })).toBe("How loud it is.");
  expect(signalLabel({ name: "freshness", ...signal })).toBe("How new it is");
});
