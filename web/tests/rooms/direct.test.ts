import { describe, expect, test } from "vitest";
import { mergePage } from "../../src/rooms/direct/inbox.svelte";
import { linkTokens } from "../../src/rooms/direct/linkTokens";
import { formatDay, formatDuration } from "../../src/rooms/direct/messageTimes";
import { countReactions, firstEmoji } from "../../src/rooms/direct/reactions";
import { loudness } from "../../src/rooms/direct/recorder.svelte";
import { applyQueued } from "../../src/rooms/direct/shownMessage";
import { rowsOf, seenMarkers } from "../../src/rooms/direct/timeline";
import { person, queuedChange, sampleEntry, sampleMember, sampleMessage } from "./sampleMessages";

const ANA = person("ana");
const own = { author: ANA, is_own: true } as const;

describe("messages on their way", () => {
  test("what was just written stands at the end, pending, and quotes what it replies to", () => {
    const sent = queuedChange("a", { kind: "send", body: { text: "Hello", reply_to: "1" } });

    const shown = applyQueued([sampleMessage(1)], [sent], ANA);

    expect(shown.map(({ text, status }) => [text, status])).toEqual([
      ["Message 1", "sent"],
      ["Hello", "pending"],
    ]);
    expect(shown[1]?.reply_to).toEqual({ message_id: "1", account_id: "bo", text: "Message 1" });
  });

  test("a message that the server has is shown once, under the key it was written with", () => {
    const result = { message_id: "2", number: 2 };
    const sent = queuedChange("a", { kind: "send", body: { text: "Hello" } }, { status: "sent", result });

    const shown = applyQueued([sampleMessage(1), sampleMessage(2, own)], [sent], ANA);

    expect(shown.map(({ key }) => key)).toEqual(["1", "a"]);
  });

  test("an edit, a reaction and a withdrawal show at once; a refused edit does not", () => {
    const changes = [
      queuedChange("e", { kind: "edit", body: { message_id: "1", text: "Better" } }),
      queuedChange("r", { kind: "react", body: { message_id: "1", emoji: "🔥" } }),
      queuedChange("u", { kind: "unsend", body: { message_id: "2" } }),
      queuedChange("f", { kind: "edit", body: { message_id: "3", text: "No" } }, { status: "failed" }),
    ];

    const [first, second, third] = applyQueued(
      [1, 2, 3].map((each) => sampleMessage(each, own)),
      changes,
      ANA,
    );

    expect([first?.text, first?.status, first?.reactions]).toEqual([
      "Better",
      "pending",
      [{ account_id: "ana", emoji: "🔥" }],
    ]);
    expect([second?.kind, second?.text]).toEqual(["unsent", ""]);
    expect(third?.text).toBe("Message 3");
  });

  test("a recording on its way is a voice message, another file a photo or video", () => {
    const files = [
      new File(["x"], "voice.webm", { type: "audio/webm" }),
      new File(["x"], "a.jpg", { type: "image/jpeg" }),
    ];

    const shown = applyQueued(
      [],
      files.map((file, index) => queuedChange(`${index}`, { kind: "send", body: {}, file })),
      ANA,
    );

    expect(shown.map(({ kind }) => kind)).toEqual(["voice", "media"]);
  });
});

describe("the timeline", () => {
  const shown = (...numbers: number[]) =>
    applyQueued(
      numbers.map((each) => sampleMessage(each)),
      [],
      ANA,
    );

  test("messages of one person within five minutes are a group, and each day has its mark", () => {
    const later = sampleMessage(60, { created_at: new Date(2026, 2, 11, 9).toISOString() });
    const rows = rowsOf(
      applyQueued([sampleMessage(1), sampleMessage(2), sampleMessage(30), later], [], ANA),
      new Map(),
      null,
    );

    expect(rows.map(({ kind }) => kind)).toEqual(["day", "message", "message", "message", "day", "message"]);
    const groups = rows.flatMap((row) => (row.kind === "message" ? [[row.isFirst, row.isLast]] : []));
    expect(groups).toEqual([
      [true, false],
      [false, true],
      [true, true],
      [true, true],
    ]);
  });

  test("what is new begins with a mark, and a group of its own", () => {
    const rows = rowsOf(shown(1, 2, 3), new Map(), 3);

    expect(rows.map(({ kind }) => kind)).toEqual(["day", "message", "message", "new", "message"]);
    expect(rows.at(-1)).toMatchObject({ isFirst: true });
  });

  test("each member's marker is at the last of the viewer's messages that they have read", () => {
    const messages = applyQueued(
      [sampleMessage(1, own), sampleMessage(2, own), sampleMessage(3), sampleMessage(4, own)],
      [],
      ANA,
    );
    const members = [
      sampleMember("ana", 4),
      sampleMember("bo", 3),
      sampleMember("cy", 4),
      sampleMember("di", 4, { is_invited: true }),
    ];

    const markers = seenMarkers(messages, members, "ana");

    expect([...markers].map(([key, people]) => [key, people.map(({ username }) => username)])).toEqual([
      ["2", ["bo"]],
      ["4", ["cy"]],
    ]);
  });

  test("days are named as people name them", () => {
    const now = new Date(2026, 2, 12, 1);

    expect(formatDay(new Date(2026, 2, 12, 0, 5).toISOString(), now)).toBe("Today");
    expect(formatDay(new Date(2026, 2, 11, 23, 50).toISOString(), now)).toBe("Yesterday");
    expect(formatDay(new Date(2026, 2, 9, 12).toISOString(), now)).toBe("Monday");
    expect(formatDay(new Date(2025, 2, 9, 12).toISOString(), now)).toBe("March 9, 2025");
    expect(formatDuration(65.4)).toBe("1:05");
  });
});

describe("the inbox", () => {
  test("a fresh first page replaces its part of the list, and what lies further back stays", () => {
    const items = [5, 4, 3, 2, 1].map((each) => sampleEntry(each));
    const page = {
      folder: "inbox" as const,
      threads: [sampleEntry(6), sampleEntry(5), sampleEntry(3)],
      next_cursor: "x",
      has_more: true,
    };

    expect(mergePage(items, page).map(({ thread_id }) => thread_id)).toEqual(["6", "5", "3", "2", "1"]);
  });

  test("a page without another one is the whole list", () => {
    const page = { folder: "inbox" as const, threads: [sampleEntry(5)], next_cursor: null, has_more: false };

    expect(mergePage([sampleEntry(5), sampleEntry(4)], page)).toEqual(page.threads);
  });
});

describe("texts", () => {
  test("links end before the punctuation around them, and keep brackets of their own", () => {
    const links = linkTokens("See https://example.org/a_(b), www.example.org. Or javascript:alert(1)").filter(
      ({ href }) => href,
    );

    expect(links.map(({ text }) => text)).toEqual(["https://example.org/a_(b)", "www.example.org"]);
    expect(links[1]?.href).toBe("https://www.example.org/");
  });

  test("the tokens are the text, whole", () => {
    const text = "a https://example.org/x?y=1#z b";

    expect(
      linkTokens(text)
        .map((token) => token.text)
        .join(""),
    ).toBe(text);
  });

  test("reactions are counted by emoji, in the order they were given", () => {
    const reactions = [
      { account_id: "bo", emoji: "🔥" },
      { account_id: "ana", emoji: "❤️" },
      { account_id: "cy", emoji: "🔥" },
    ];

    expect(countReactions(reactions, "ana")).toEqual([
      { emoji: "🔥", count: 2, isOwn: false },
      { emoji: "❤️", count: 1, isOwn: true },
    ]);
  });

  test("an emoji is taken from what was typed; letters are none", () => {
    expect(["👩‍🚀 hi", "🇩🇪", " 👍🏽", "a", "7", ""].map(firstEmoji)).toEqual([
      "👩‍🚀",
      "🇩🇪",
      "👍🏽",
      null,
      null,
      null,
    ]);
  });

  test("silence is flat, and the loudest is full", () => {
    expect([loudness([128, 128]), loudness([0, 128]), loudness([128, 160])]).toEqual([0, 255, 128]);
  });
});
