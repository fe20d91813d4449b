// @vitest-environment node
/** The client side of encryption without a server: groups of real MLS states, history, backup keys, safety numbers. */

import { generateKeyPackageWithKey } from "ts-mls";
import { expect, test } from "vitest";
import { decodeText, encodeText } from "../../../src/rooms/direct/encryption/bytes";
import { decodeContent, encodeContent } from "../../../src/rooms/direct/encryption/content";
import type { Device, OwnKeyPackage } from "../../../src/rooms/direct/encryption/device";
import {
  applyHandshake,
  beginGroup,
  decrypt,
  encrypt,
  join,
  leavesOf,
  makeCommit,
  readWelcome,
} from "../../../src/rooms/direct/encryption/group";
import { fold, type ReadMessage } from "../../../src/rooms/direct/encryption/history";
import { decryptFile, encryptFile } from "../../../src/rooms/direct/encryption/media";
import { makeBackupKey, unwrapKey, wrapKey } from "../../../src/rooms/direct/encryption/passphrase";
import { safetyNumber } from "../../../src/rooms/direct/encryption/safetyNumber";
import {
  capabilities,
  credentialOf,
  getSuite,
  lifetime,
  writeMessage,
} from "../../../src/rooms/direct/encryption/suite";

const QUICK = { t: 1, m: 256, p: 1 };

async function makeDevice(
  accountId: string,
  deviceId: string,
): Promise<Device & { own: OwnKeyPackage; bytes: Uint8Array }> {
  const suite = await getSuite();
  const keys = await suite.signature.keygen();
  const credential = credentialOf(accountId, deviceId);
  const made = await generateKeyPackageWithKey(
    credential,
    capabilities(),
    lifetime(Date.now()),
    [],
    keys,
    suite,
  );
  const bytes = writeMessage({
    version: "mls10",
    wireformat: "mls_key_package",
    keyPackage: made.publicPackage,
  });
  return { accountId, deviceId, name: "", ...keys, own: { ...made, isLastResort: false }, bytes };
}

async function pair() {
  const [ana, bo] = [await makeDevice("1", "11"), await makeDevice("2", "21")];
  const begun = await beginGroup(encodeText("9.1"), ana);
  const made = await makeCommit(begun, [], [], [bo.bytes]);
  if (made.welcome === null) throw new Error("no welcome");
  return { ana, bo, a: made.state, b: await join(readWelcome(made.welcome), bo.own) };
}

test("a message is opened once, and says who has signed it", async () => {
  const { a, b } = await pair();
  const [, sealed] = await encrypt(a, encodeText("hello"));

  const opened = await decrypt(b, sealed);

  expect(decodeText(opened.plain)).toBe("hello");
  expect(opened.sender).toMatchObject({ accountId: "1", deviceId: "11", leafIndex: 0 });
  await expect(decrypt(opened.state, sealed)).rejects.toThrow();
});

test("who was removed cannot open what follows", async () => {
  const { a, b } = await pair();
  const removed = await makeCommit(a, [], [1], []);
  const [, sealed] = await encrypt(removed.state, encodeText("alone"));

  await expect(decrypt(b, sealed)).rejects.toThrow();
  expect(leavesOf(removed.state)).toHaveLength(1);
});

test("a commit that lost is not applied, and the winner is", async () => {
  const { a, b } = await pair();
  const cy = await makeDevice("3", "31");
  const [winner, loser] = [await makeCommit(a, [], [], [cy.bytes]), await makeCommit(b, [], [], [cy.bytes])];

  const after = await applyHandshake(b, winner.commit);

  expect(leavesOf(after).map(({ accountId }) => accountId)).toEqual(["1", "2", "3"]);
  await expect(applyHandshake(after, loser.commit)).rejects.toThrow();
});

test("the safety number is the same from both sides and another with another key", async () => {
  const { a, b } = await pair();
  const number = safetyNumber(leavesOf(a), "1", "2");

  expect(number).toMatch(/^(\d{5} ){11}\d{5}$/);
  expect(safetyNumber(leavesOf(b), "2", "1")).toBe(number);
  const forged = leavesOf(b).map((leaf) =>
    leaf.accountId === "1" ? { ...leaf, signatureKey: new Uint8Array(32) } : leaf,
  );
  expect(safetyNumber(forged, "2", "1")).not.toBe(number);
});

test("the key of a backup opens with its passphrase alone", async () => {
  const key = makeBackupKey();
  const header = await wrapKey(key, "five random words here", QUICK);

  expect(await unwrapKey(header, "five random words here")).toEqual(key);
  await expect(unwrapKey(header, "five random words there")).rejects.toMatchObject({
    code: "wrong_passphrase",
  });
});

test("a file opens as it was, or not at all", async () => {
  const plain = encodeText("a heron");
  const [sealed, file] = await encryptFile(plain, { type: "image/jpeg", name: "heron.jpg" });

  expect(await decryptFile(sealed, file)).toEqual(plain);
  sealed[0] = (sealed[0] ?? 0) ^ 1;
  await expect(decryptFile(sealed, file)).rejects.toThrow();
});

test("nonsense is no content", () => {
  expect(decodeContent(encodeContent({ type: "text", text: "hi" }))).toMatchObject({
    type: "text",
    text: "hi",
  });
  for (const wrong of [
    "",
    "null",
    "[]",
    '{"type":"text"}',
    '{"type":"file","text":"","file":{}}',
    '{"type":"other"}',
  ])
    expect(decodeContent(encodeText(wrong))).toBeNull();
});

const READ = { threadId: "9", number: 1, expiresAt: null, unreadable: null } as const;
const at = (minutes: number) => new Date(minutes * 60_000).toISOString();

test("edits count for their author and for a quarter of an hour; everybody has one reaction", () => {
  const messages: ReadMessage[] = [
    { ...READ, messageId: "1", accountId: "1", createdAt: at(0), content: { type: "text", text: "first" } },
    {
      ...READ,
      messageId: "2",
      accountId: "1",
      createdAt: at(10),
      content: { type: "edit", to: "1", text: "second" },
    },
    {
      ...READ,
      messageId: "3",
      accountId: "2",
      createdAt: at(11),
      content: { type: "edit", to: "1", text: "foreign" },
    },
    {
      ...READ,
      messageId: "4",
      accountId: "1",
      createdAt: at(16),
      content: { type: "edit", to: "1", text: "late" },
    },
    {
      ...READ,
      messageId: "5",
      accountId: "2",
      createdAt: at(17),
      content: { type: "reaction", to: "1", emoji: "🔥" },
    },
    {
      ...READ,
      messageId: "6",
      accountId: "2",
      createdAt: at(18),
      content: { type: "reaction", to: "1", emoji: "❤️" },
    },
  ];

  const [shown, ...others] = fold(messages);

  expect(others).toEqual([]);
  expect([shown?.text, shown?.isEdited, [...(shown?.reactions ?? [])]]).toEqual([
    "second",
    true,
    [["2", "❤️"]],
  ]);
});
