/**
 * What real devices do with a real server. Usage: node e2e/encryption/scenarios.mjs NAME ADDRESS PEOPLE
 * PEOPLE is JSON: for each person their token and account id. Prints facts as JSON for the caller to check at rest.
 */
import { close, expect, load, openDevice, QUICK, refusal, text, texts, transport } from "./support.mjs";

const [, , name, address, given] = process.argv;
const { ana, bo, cy, ana2 } = JSON.parse(given);
const device = (person, label) => openDevice(address, person, label);

async function pair() {
  const [a, b] = [await device(ana, "Ana's phone"), await device(bo, "Bo's phone")];
  const threadId = await a.client.threads.open([bo.account_id]);
  expect(await b.client.threads.open([ana.account_id]), threadId, "the one conversation of the two");
  return { a, b, threadId };
}

const scenarios = {
  async twoPeople() {
    const { a, b, threadId } = await pair();
    await a.client.send(threadId, text("the heron is awake"));
    await b.client.send(threadId, text("and so am I"));
    await a.client.send(threadId, text("good"));
    expect(await texts(b, threadId), ["the heron is awake", "and so am I", "good"], "what Bo reads");
    expect(await texts(a, threadId), ["the heron is awake", "and so am I", "good"], "what Ana reads");
    const [first] = await b.client.history.show(threadId);
    expect(first.accountId, ana.account_id, "who has signed it");
    await b.client.send(threadId, { type: "reaction", to: first.messageId, emoji: "🔥" });
    await a.client.send(threadId, { type: "edit", to: first.messageId, text: "the heron is asleep" });
    await b.client.send(threadId, { type: "edit", to: first.messageId, text: "not mine to edit" });
    const [edited] = await a.client.read(threadId);
    expect(
      [edited.text, edited.isEdited, [...edited.reactions]],
      ["the heron is asleep", true, [[bo.account_id, "🔥"]]],
      "edited",
    );
    const digits = await a.client.safetyNumber(threadId, bo.account_id);
    expect(await b.client.safetyNumber(threadId, ana.account_id), digits, "the safety number on both sides");
    if (!/^(\d{5} ){11}\d{5}$/.test(digits)) throw new Error(digits);
    return { threadId, plain: ["the heron is awake", "and so am I", "the heron is asleep"] };
  },

  async groupOfThree() {
    const [a, b, c] = [await device(ana, "a"), await device(bo, "b"), await device(cy, "c")];
    const threadId = await a.client.threads.open([bo.account_id], {
      name: "Herons",
      local_id: crypto.randomUUID(),
    });
    await a.client.send(threadId, text("before Cy"));
    await a.client.threads.change(threadId, { add: [cy.account_id] });
    await b.client.send(threadId, text("welcome, Cy"));
    await c.client.send(threadId, text("hello"));
    expect(await texts(c, threadId), ["welcome, Cy", "hello"], "Cy reads from the addition on");
    expect(await texts(b, threadId), ["before Cy", "welcome, Cy", "hello"], "Bo reads all");
    expect(
      await refusal(b.client.threads.change(threadId, { remove: [cy.account_id] })),
      "not_thread_admin",
      "who may remove",
    );
    await a.client.threads.change(threadId, { remove: [cy.account_id] });
    await a.client.send(threadId, text("without Cy"));
    expect(await refusal(c.client.read(threadId)), "thread_not_found", "Cy is out");
    expect(await texts(b, threadId), ["before Cy", "welcome, Cy", "hello", "without Cy"], "Bo reads on");
    // Even with the ciphertext in hand, Cy's keys do not open it.
    const page = await b.transport.call("GET", `/direct/threads/${threadId}/messages`, {});
    const newest = page.messages[0].sealed;
    const { decrypt } = await load("group.ts");
    const { loadRecord } = await load("groupRecord.ts");
    const { fromBase64Url } = await load("bytes.ts");
    const record = await loadRecord(c.store, threadId);
    await refusal(decrypt(record.state, fromBase64Url(newest.ciphertext)));
    return { threadId, plain: ["before Cy", "welcome, Cy", "without Cy"] };
  },

  async leaving() {
    const [a, b, c] = [await device(ana, "a"), await device(bo, "b"), await device(cy, "c")];
    const threadId = await a.client.threads.open([bo.account_id, cy.account_id], {
      name: "",
      local_id: crypto.randomUUID(),
    });
    await c.client.send(threadId, text("I am off"));
    await c.client.threads.leave(threadId);
    const group = await a.transport.call("GET", `/direct/threads/${threadId}/encryption`, {});
    expect(
      [group.proposals.length, group.leaves.filter((each) => each.is_gone).length],
      [1, 1],
      "a proposal waits",
    );
    await b.client.send(threadId, text("Cy is gone"));
    expect(await texts(a, threadId), ["I am off", "Cy is gone"], "Ana reads on");
    const after = await a.transport.call("GET", `/direct/threads/${threadId}/encryption`, {});
    expect([after.proposals.length, after.leaves.length], [0, 2], "the next committer took it up");
    return { threadId, plain: ["I am off", "Cy is gone"] };
  },

  async concurrentCommits() {
    const [a, b, c] = [await device(ana, "a"), await device(bo, "b"), await device(cy, "c")];
    const threadId = await a.client.threads.open([bo.account_id, cy.account_id], {
      name: "",
      local_id: crypto.randomUUID(),
    });
    await Promise.all([b.client.read(threadId), c.client.read(threadId)]);
    const late = await device(ana2, "Ana's laptop"); // All three want to add it at once.
    await Promise.all([a, b, c].map((each) => each.client.threads.tend(threadId)));
    await Promise.all([a, b, c].map((each, index) => each.client.send(threadId, text(`after ${index}`))));
    const read = await Promise.all([a, b, c, late].map((each) => texts(each, threadId)));
    for (const each of read)
      expect([...each].sort(), ["after 0", "after 1", "after 2"], "everybody reads everything");
    for (const each of read) expect(each, read[0], "in one order");
    const { epoch, leaves } = await a.transport.call("GET", `/direct/threads/${threadId}/encryption`, {});
    expect([epoch, leaves.length], [2, 4], "one commit for each epoch");
    return { threadId, plain: ["after 0"] };
  },

  async replay() {
    const { a, b, threadId } = await pair();
    await a.client.send(threadId, text("once"), "same-id");
    await a.client.send(threadId, text("once"), "same-id");
    expect(await texts(b, threadId), ["once"], "sent twice, stored once");
    const page = await b.transport.call("GET", `/direct/threads/${threadId}/messages`, {});
    const { decrypt } = await load("group.ts");
    const { loadRecord } = await load("groupRecord.ts");
    const { fromBase64Url } = await load("bytes.ts");
    const ciphertext = fromBase64Url(page.messages[0].sealed.ciphertext);
    const record = await loadRecord(b.store, threadId);
    await refusal(decrypt(record.state, ciphertext)); // Its key was used and is gone.
    // The server's own word for the author does not count, and a changed ciphertext opens nothing.
    await a.client.send(threadId, text("genuine"));
    const forged = (await b.transport.call("GET", `/direct/threads/${threadId}/messages`, {})).messages[0]
      .sealed;
    const bytes = fromBase64Url(forged.ciphertext);
    bytes[bytes.length - 1] ^= 1;
    await refusal(decrypt(record.state, bytes));
    expect(await texts(b, threadId), ["once", "genuine"], "the genuine one is read");
    return { threadId, plain: ["genuine"] };
  },

  async newDevice() {
    const { a, b, threadId } = await pair();
    await a.client.backup.begin("correct horse battery", QUICK);
    await a.client.send(threadId, text("before the laptop"));
    await b.client.send(threadId, text("an answer"));
    await a.client.read(threadId);
    const laptop = await device(ana2, "Ana's laptop");
    expect(await refusal(laptop.client.read(threadId)), "not_in_group", "not added yet");
    expect(
      await refusal(laptop.client.backup.restore("wrong horse")),
      "wrong_passphrase",
      "a wrong passphrase",
    );
    expect(await laptop.client.backup.restore("correct horse battery"), 2, "restored messages");
    await b.client.send(threadId, text("now with the laptop")); // Bo's device adds it.
    const shown = await laptop.client.read(threadId);
    expect(
      shown.map((each) => each.text),
      ["before the laptop", "an answer", "now with the laptop"],
      "history and news",
    );
    expect(
      shown.map((each) => each.accountId),
      [ana.account_id, bo.account_id, bo.account_id],
      "authors",
    );
    await laptop.client.send(threadId, text("from the laptop"));
    expect(
      await texts(a, threadId),
      ["before the laptop", "an answer", "now with the laptop", "from the laptop"],
      "on the phone",
    );
    await laptop.client.backup.changePassphrase("another passphrase", QUICK);
    return { threadId, plain: ["before the laptop", "now with the laptop", "correct horse battery"] };
  },

  async removedDevice() {
    const [a, b] = [await device(ana, "a"), await device(bo, "b")];
    const laptop = await device(ana2, "Ana's laptop");
    const threadId = await a.client.threads.open([bo.account_id]);
    await b.client.send(threadId, text("on both"));
    expect(await texts(laptop, threadId), ["on both"], "the laptop reads");
    await a.transport.call("DELETE", `/direct/encryption/devices/${laptop.client.device.deviceId}`, {});
    await b.client.send(threadId, text("on the phone alone")); // Bo's device removes it first.
    expect(await refusal(laptop.client.read(threadId)), "device_not_in_group", "the laptop is out");
    expect(await texts(a, threadId), ["on both", "on the phone alone"], "the phone reads on");
    const { leaves } = await a.transport.call("GET", `/direct/threads/${threadId}/encryption`, {});
    expect(leaves.length, 2, "leaves");
    return { threadId, plain: ["on both"] };
  },

  async photo() {
    const { a, b, threadId } = await pair();
    const picture = new TextEncoder().encode("JPEG of a heron ".repeat(20_000));
    const sent = await a.client.sendFile(
      threadId,
      picture,
      { type: "image/jpeg", name: "heron.jpg", width: 4, height: 3 },
      "look",
    );
    const [shown] = await b.client.read(threadId);
    expect([shown.text, shown.content.file.name], ["look", "heron.jpg"], "the message");
    const opened = new Uint8Array(await (await b.client.openFile(threadId, sent.message_id)).arrayBuffer());
    expect(opened.length, picture.length, "the size");
    expect(
      opened.every((byte, index) => byte === picture[index]),
      true,
      "the bytes",
    );
    const stranger = transport(address, cy.token);
    const path = `/direct/threads/${threadId}/encryption/messages/${sent.message_id}/attachment`;
    expect(await refusal(stranger.download(path)), "thread_not_found", "a stranger");
    await a.transport.call("PUT", `/direct/threads/${threadId}/messages/${sent.message_id}/unsent`, {
      json: { device_id: "another-count", local_id: crypto.randomUUID(), counter: 1 },
    });
    expect(await refusal(b.transport.download(path)), "attachment_not_found", "unsent");
    return { threadId, plain: ["JPEG of a heron"], messageId: sent.message_id };
  },

  async lostKeys() {
    const { a, b, threadId } = await pair();
    await a.client.send(threadId, text("lost with the phones"));
    for (const each of [a, b]) {
      await each.transport.call("DELETE", `/direct/encryption/devices/${each.client.device.deviceId}`, {});
    }
    const [a2, b2] = [await device(ana, "new phone"), await device(bo, "new phone")];
    expect(await refusal(a2.client.read(threadId)), "not_in_group", "nobody can add it");
    await a2.client.threads.beginAnew(threadId);
    await a2.client.send(threadId, text("a new beginning"));
    const shown = await b2.client.read(threadId);
    expect(
      shown.map((each) => each.unreadable ?? each.text),
      ["before_joining", "a new beginning"],
      "what Bo reads",
    );
    return { threadId, plain: ["a new beginning"] };
  },
};

try {
  const facts = await scenarios[name]();
  process.stdout.write(`${JSON.stringify(facts)}\n`);
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
} finally {
  await close();
}
