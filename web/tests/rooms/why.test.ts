import { afterEach, expect, test } from "vitest";
import { language } from "../../src/base/i18n";
import type { Explanation } from "../../src/client/feed";
import { nameOf, summaryOf } from "../../src/rooms/posts/menu/why";

function told(...reasons: string[]): Explanation {
  const rest = { score: 1, weights: "1", arm: "", outcomes: [], signals: [], factors: {} };
  return { post_id: "1", summary: "In English.", reasons, ...rest };
}

async function speak(code: "en" | "de" | "ar"): Promise<void> {
  await language.use(code);
  await language.need("posts");
}

afterEach(() => language.use("en"));

test("reasons are said in the reader's language, the strongest first", async () => {
  await speak("en");
  expect(summaryOf(told("freshness", "affinity"))).toBe(
    "It is here because it is new and you are close to its author.",
  );
  await speak("de");
  expect(summaryOf(told("freshness", "popularity"))).toBe(
    "Er steht hier, weil er neu ist und gerade viele auf ihn reagieren.",
  );
});

test("a post that was seen, and nothing else, says so", async () => {
  await speak("en");
  expect(summaryOf(told("seen"))).toBe(
    "It stands where its age puts it. You have seen it before, so it comes later.",
  );
});

test("a signal of a newer server keeps the server's words", async () => {
  await speak("en");
  const signal = { words: "How loud it is.", value: 1, contributions: {} };
  expect(nameOf({ name: "loudness", ...signal })).toBe("How loud it is.");
  expect(nameOf({ name: "freshness", ...signal })).toBe("How new it is");
});
