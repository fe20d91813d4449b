// @vitest-environment node
/** Encrypted messages on their way: stored first, sent in order, once, again after failures and after a reload. */
import { expect, test, vi } from "vitest";
import { Problem } from "../../../src/client/problem";
import { InMemoryKeyStore } from "../../../src/rooms/direct/encryption/keyStore";
import { Outbox, type OutgoingMessage } from "../../../src/rooms/direct/encryption/outbox";

const OFFLINE = new Problem({ status: 0, code: "offline" });
const REFUSED = new Problem({ status: 403, code: "not_in_thread" });

function world(store = new InMemoryKeyStore()) {
  const sent: string[] = [];
  const answers: Problem[] = [];
  const later: (() => void)[] = [];
  const onWaiting = vi.fn();
  const send = async ({ text, localId }: OutgoingMessage) => {
    const problem = answers.shift();
    if (problem !== undefined) throw problem;
    sent.push(`${text}:${localId}`);
  };
  const outbox = new Outbox({ store, send, schedule: (_, then) => later.push(then), onWaiting });
  const add = (text: string, threadId = "1") => outbox.add({ threadId, text, file: null, replyTo: null });
  const texts = () => sent.map((each) => each.split(":")[0]);
  return { store, outbox, add, sent, texts, answers, later, onWaiting };
}

test("messages are sent in the order in which they were written, and leave nothing behind", async () => {
  const { outbox, add, texts, onWaiting } = world();

  await add("one");
  await add("two");
  await outbox.drain();

  expect(texts()).toEqual(["one", "two"]);
  expect(await outbox.of("1")).toEqual([]);
  expect(onWaiting).toHaveBeenLastCalledWith(false);
});

test("what could not be sent is sent by the next page, under the same local id", async () => {
  const before = world();
  before.answers.push(OFFLINE, OFFLINE);
  await before.add("one");
  await before.outbox.drain();
  const [waiting] = await before.outbox.of("1");
  expect(before.onWaiting).toHaveBeenLastCalledWith(true);

  const after = world(before.store);
  await after.outbox.drain();

  expect(before.sent).toEqual([]);
  expect(after.sent).toEqual([`one:${waiting?.localId}`]);
});

test("while one message waits, those after it in the thread do, and other threads go on", async () => {
  const { outbox, add, texts, answers, later } = world();
  answers.push(OFFLINE);
  await Promise.all([add("first"), add("elsewhere", "2"), add("second")]);
  await outbox.drain();
  await outbox.drain();

  expect(later.length).toBeGreaterThan(0);
  expect(texts().indexOf("first")).toBeLessThan(texts().indexOf("second"));
  expect(new Set(texts())).toEqual(new Set(["first", "second", "elsewhere"]));
});

test("a refused message stays in view until it is sent again or given up", async () => {
  const { outbox, add, texts, answers } = world();
  const failures: unknown[] = [];
  outbox.onChange((_, failure) => failure !== null && failures.push(failure));
  answers.push(REFUSED);
  await add("one");
  await add("two");
  await outbox.drain();

  const [refused] = await outbox.of("1");
  expect(refused).toMatchObject({ text: "one", hasFailed: true });
  expect(failures).toEqual([REFUSED]);
  expect(texts()).toEqual(["two"]);

  await outbox.retry(refused?.localId ?? "");
  await outbox.drain();
  expect(texts()).toEqual(["two", "one"]);

  answers.push(REFUSED);
  await add("three");
  await outbox.drain();
  const [third] = await outbox.of("1");
  await outbox.discard(third?.localId ?? "");
  expect(await outbox.of("1")).toEqual([]);
});

test("a server that fails for long refuses, so that it holds nothing up for ever", async () => {
  const { outbox, add, answers } = world();
  answers.push(...Array.from({ length: 12 }, () => new Problem({ status: 500, code: "internal" })));
  await add("one");
  for (let run = 0; run < 13; run++) await outbox.drain();

  expect(await outbox.of("1")).toMatchObject([{ hasFailed: true }]);
});
