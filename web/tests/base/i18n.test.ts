import { describe, expect, test } from "vitest";
import {
  formatLocale,
  type LocaleCode,
  language,
  loadMessages,
  localeCodes,
  namespaces,
  negotiateLocale,
  t,
} from "../../src/base/i18n";
import { render, renderAgo, renderCount, renderSize, renderWait } from "../../src/base/i18n/render";
import type { Message } from "../../src/base/i18n/types";

function placeholders(message: Message): string[] {
  const text = typeof message === "string" ? message : message.other;
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "").sort();
}

async function loadAll(code: LocaleCode): Promise<Readonly<Record<string, Message>>> {
  return Object.assign(
    {},
    ...(await Promise.all(
      ["core" as const, ...namespaces].map((namespace) => loadMessages(namespace, code)),
    )),
  );
}

describe.each(localeCodes)("the catalogue %s", (code) => {
  test("fills the same placeholders as the English one", async () => {
    const english = await loadAll("en");
    const catalogue = await loadAll(code);
    expect(Object.keys(catalogue).sort()).toEqual(Object.keys(english).sort());
    for (const [key, message] of Object.entries(english)) {
      expect(placeholders(catalogue[key] ?? ""), key).toEqual(placeholders(message));
    }
  });

  test("has a text for every plural category of its language", async () => {
    const categories = new Intl.PluralRules(code).resolvedOptions().pluralCategories;
    const needed = categories.filter((category) => category !== "zero");
    for (const [key, message] of Object.entries(await loadAll(code))) {
      if (typeof message !== "string")
        expect(Object.keys(message), key).toEqual(expect.arrayContaining(needed));
    }
  });

  test("leaves no message empty", async () => {
    for (const [key, message] of Object.entries(await loadAll(code))) {
      for (const text of typeof message === "string" ? [message] : Object.values<string>(message)) {
        expect(text.trim(), key).not.toBe("");
      }
    }
  });
});

describe("a message", () => {
  test("uses the plural form of its count, formatted for the locale", () => {
    const message = { one: "{count} Beitrag", other: "{count} Beiträge" };
    expect(render(message, "de", { count: 1 })).toBe("1 Beitrag");
    expect(render(message, "de", { count: 12345 })).toBe("12.345 Beiträge");
  });

  test("uses all six forms of Arabic", async () => {
    const { "post.likes": likes } = await loadAll("ar");
    const forms = [0, 1, 2, 3, 11, 100].map((count) => render(likes ?? "", "ar", { count }));
    expect(new Set(forms).size).toBe(6);
  });

  test("does not treat a value as a placeholder", () => {
    expect(render("Post by {name}", "en", { name: "{count}", count: 3 })).toBe("Post by {count}");
  });
});

describe("numbers and times", () => {
  const now = new Date("2026-03-10T12:00:00Z");

  test("are compact", () => {
    expect(renderCount(999, "en")).toBe("999");
    expect(renderCount(1240, "en")).toBe("1.2K");
  });

  test("are relative within a week, then dates", () => {
    expect(renderAgo(new Date("2026-03-10T11:59:40Z"), now, "en")).toBe("now");
    expect(renderAgo(new Date("2026-03-10T11:55:00Z"), now, "en")).toBe("5 min. ago");
    expect(renderAgo(new Date("2026-03-09T12:00:00Z"), now, "de")).toBe("gestern");
    expect(renderAgo(new Date("2026-02-10T12:00:00Z"), now, "en")).toBe("Feb 10");
    expect(renderAgo(new Date("2024-02-10T12:00:00Z"), now, "en")).toBe("Feb 10, 2024");
  });

  test("are never in the future, whatever the clocks say", () => {
    expect(renderAgo(new Date("2026-03-10T12:03:00Z"), now, "en")).toBe("now");
  });
});

describe("the language", () => {
  test("is the first preferred one that is supported", () => {
    expect(negotiateLocale(["fr-FR", "de-AT", "en"])).toBe("de");
    expect(negotiateLocale(["fr"])).toBe("en");
  });

  test("writes dates and numbers as in the visitor's region", () => {
    expect(formatLocale("en", ["de-DE", "en-US", "en"])).toBe("en-US");
    expect(formatLocale("en", ["de-DE"])).toBe("en-GB");
    expect(formatLocale("de", ["en-US", "de"])).toBe("de");
  });

  test("includes a namespace that was requested while it changed", async () => {
    const changing = language.use("de");
    await Promise.all([language.loadNamespaces("comments"), changing]);
    expect(t("comments.title")).toBe("Kommentare");
    await language.use("en");
  });

  test("changes the direction of the document", async () => {
    await language.use("ar");
    expect(document.documentElement.dir).toBe("rtl");
    expect(t("app.close")).toBe("إغلاق");
    await language.use("en");
    expect(document.documentElement.dir).toBe("ltr");
    expect(t("feed.fresh", { count: 2 })).toBe("2 new posts");
  });
});

test("sizes are shown in the unit that suits them", () => {
  const sizes = [0, 1_500, 2_500_000, 21_474_836_480, 3e12];
  expect(sizes.map((bytes) => renderSize(bytes, "en"))).toEqual([
    "0 kB",
    "1.5 kB",
    "2.5 MB",
    "21.5 GB",
    "3 TB",
  ]);
});

test("a wait is rounded up to the unit that suits it", () => {
  const waits = [0, 30, 121, 7_201, 172_801];
  expect(waits.map((seconds) => renderWait(seconds, "en"))).toEqual([
    "in 1 second",
    "in 30 seconds",
    "in 3 minutes",
    "in 3 hours",
    "in 3 days",
  ]);
});
