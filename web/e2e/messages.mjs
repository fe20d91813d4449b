// Two people and a third write to each other: text, reply, reaction, edit, unsend, photo, voice, a group, a request, a post that is sent,
// search, a photo of the group, messages that disappear, and messages written offline that arrive once, in order.
// node e2e/messages.mjs ADDRESS PHOTO [SCREENSHOT_FOLDER]

import assert from "node:assert/strict";
import { DESKTOP, launch, PHONE, screenshot, waitUntil } from "./support/browser.mjs";
import { publish, publishStory, RUN, signIn, waitUntilSearchable } from "./support/users.mjs";

const [address, photo, shots] = process.argv.slice(2);
const ANA = `ana.${RUN}`;
const BO = `bo.${RUN}`;
const CY = `cy.${RUN}`;

const field = (page) => page.getByRole("textbox", { name: /^Message to/ });
const messages = (page) => page.getByRole("region", { name: "Messages of this conversation" });
const bubble = (page, text) => messages(page).locator("li", { hasText: text }).last();

const browser = await launch("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream");
const consoleErrors = [];
try {
  const enter = (name, options) => signIn(browser, address, name, { consoleErrors, ...options });
  const ana = await enter(ANA, DESKTOP);
  const bo = await enter(BO, PHONE);
  const cy = await enter(CY, DESKTOP);
  for (const [one, other] of [
    [ana, bo],
    [bo, ana],
    [cy, ana],
  ])
    await one.call("PUT", `/accounts/${other.id}/follow`);
  await Promise.all([BO, CY].map((name) => waitUntilSearchable(ana, name)));

  const threadId = await begin(ana);
  await chat(ana, bo, threadId);
  await changeMessages(ana, bo);
  await sendPhoto(ana, bo);
  await sendVoice(bo, ana);
  await sendPost(ana, bo);
  await replyToStory(ana, bo);
  await acceptRequest(ana, cy);
  await makeGroup(ana, bo);
  await findMessage(ana);
  await writeOffline(ana, bo, threadId);
  const unexpected = consoleErrors.filter(
    (each) => !/ERR_INTERNET_DISCONNECTED|ERR_FAILED|WebSocket/.test(each),
  );
  assert.deepEqual(unexpected, [], "no console errors");
} finally {
  await browser.close();
}

async function write(page, text) {
  await field(page).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await messages(page).getByText(text, { exact: true }).last().waitFor();
}

/** Opens the tools of a message, as a keyboard does, and presses one of them. */
async function use(page, text, tool, row = bubble(page, text)) {
  await row.getByRole("button", { name: tool }).focus();
  await page.keyboard.press("Enter");
}

async function begin({ page }) {
  await page.goto(`${address}/messages`);
  await page.getByText("No conversations yet").waitFor();
  await screenshot(page, shots, "messages-empty");
  await page.getByRole("button", { name: "New message" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New message" });
  await dialog.getByRole("searchbox").fill(BO);
  await dialog.getByRole("button", { name: BO }).click();
  await dialog.getByRole("button", { name: "Write" }).click();
  await page.waitForURL(/\/messages\/\d+$/);
  return page.url().split("/").at(-1);
}

async function chat(ana, bo, threadId) {
  await write(ana.page, "Shall we go to the harbour tomorrow?");
  await bo.page.goto(`${address}/messages`);
  await bo.page
    .getByRole("link", { name: /harbour/ })
    .getByText("1 unread")
    .waitFor({ state: "attached" });
  await screenshot(bo.page, shots, "messages-inbox-phone");
  await bo.page.getByRole("link", { name: /harbour/ }).click();
  await bo.page.waitForURL(`${address}/messages/${threadId}`);
  await messages(bo.page).getByText("Shall we go").waitFor();
  await messages(ana.page).getByText("Seen", { exact: true }).waitFor();
  await use(bo.page, "Shall we go", "Reply");
  await write(bo.page, "Yes, at dawn: https://example.org/tides (bring tea)");
  const answer = bubble(ana.page, "Yes, at dawn");
  await answer.getByRole("button", { name: /In reply to You: Shall we go/ }).waitFor();
  const link = answer.getByRole("link", { name: "https://example.org/tides" });
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer nofollow ugc");
  await field(bo.page).pressSequentially("I will");
  await ana.page.getByText(`${BO}⁩ is typing`).or(ana.page.getByText("is typing")).first().waitFor();
  await field(bo.page).fill("");
}

async function changeMessages(ana, bo) {
  await bubble(ana.page, "Yes, at dawn")
    .locator(".bubble")
    .dblclick({ position: { x: 6, y: 6 } });
  await bubble(bo.page, "Yes, at dawn")
    .getByRole("button", { name: `❤️, from ${ANA}` })
    .waitFor();
  await use(ana.page, "Yes, at dawn", "React");
  await ana.page.getByRole("button", { name: "React with 🔥" }).click();
  await bubble(bo.page, "Yes, at dawn")
    .getByRole("button", { name: `🔥, from ${ANA}` })
    .waitFor();
  await use(
    ana.page,
    "Shall we go",
    "More",
    messages(ana.page).locator("li.isOwn", { hasText: "Shall we go" }),
  );
  await ana.page.getByRole("button", { name: /^Edit/ }).click();
  await field(ana.page).fill("Shall we go to the lighthouse tomorrow?");
  await ana.page.keyboard.press("Enter");
  await messages(bo.page).getByText("Shall we go to the lighthouse tomorrow?").last().waitFor();
  await messages(bo.page).getByText("Edited").waitFor();
  await write(ana.page, "Sent too early");
  await messages(bo.page).getByText("Sent too early").waitFor();
  await use(ana.page, "Sent too early", "More");
  await ana.page.getByRole("button", { name: /^Unsend/ }).click();
  await ana.page
    .getByRole("dialog", { name: "Unsend this message?" })
    .getByRole("button", { name: "Unsend" })
    .click();
  await messages(bo.page).getByText("Message unsent").waitFor();
  await messages(bo.page).getByText("Sent too early").waitFor({ state: "detached" });
}

async function sendPhoto(ana, bo) {
  await ana.page.locator("input[type=file]").first().setInputFiles(photo);
  await messages(bo.page)
    .getByRole("button", { name: `Open the photo from ${ANA}` })
    .click();
  const dialog = bo.page.getByRole("dialog", { name: `Photo from ${ANA}` });
  await dialog.locator("img").waitFor();
  await bo.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await screenshot(ana.page, shots, "messages-thread-desktop");
  await screenshot(bo.page, shots, "messages-thread-phone");
}

async function sendVoice(from, to) {
  await from.page.getByRole("button", { name: "Record a voice message" }).click();
  await from.page.getByRole("timer").getByText("0:02").waitFor();
  await screenshot(from.page, shots, "messages-recording");
  await from.page.getByRole("button", { name: "Send the recording" }).click();
  const voice = messages(to.page).getByRole("group", { name: /^Voice message, 0:0[2-9]/ });
  await voice.waitFor();
  assert.equal(await voice.locator("svg rect").count(), 64, "the waveform has its peaks");
  await voice.getByRole("button", { name: "Play" }).click();
  await voice
    .getByRole("button", { name: "Pause" })
    .or(voice.getByRole("button", { name: "Play" }))
    .first()
    .waitFor();
  await waitUntil(() => voice.locator("audio").evaluate((audio) => audio.currentTime > 0 || audio.ended));
}

async function sendPost(ana, bo) {
  const post = await publish(bo, photo, "Low tide");
  await ana.page.goto(`${address}/p/${post.code}`);
  await ana.page.getByRole("button", { name: "Send in a message" }).click();
  const dialog = ana.page.getByRole("dialog", { name: "Send post" });
  await dialog.getByRole("button", { name: BO }).click();
  await dialog.getByLabel("Add a message").fill("Your best one");
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await ana.page.getByText("Sent.").waitFor();
  await messages(bo.page)
    .getByRole("link", { name: `Post by ${BO}` })
    .waitFor();
  await messages(bo.page).getByText("Your best one").waitFor();
}

async function replyToStory(ana, bo) {
  await publishStory(ana, photo, "Right now");
  await bo.page.goto(`${address}/stories/${ana.id}`);
  await bo.page.locator(".player input").fill("What a view");
  await bo.page.keyboard.press("Enter");
  await bo.page.getByText("Your reply").or(bo.page.getByText(/reply/i)).first().waitFor();
  await ana.page.goto(`${address}/messages`);
  await ana.page.getByRole("link", { name: /What a view/ }).click();
  await messages(ana.page).getByText("Replied to your story").waitFor();
  await messages(ana.page).getByRole("link", { name: "Open the story" }).waitFor();
}

async function acceptRequest(ana, cy) {
  await cy.page.goto(`${address}/@${ANA}`);
  await cy.page.getByRole("button", { name: "Message" }).click();
  await cy.page.waitForURL(/\/messages\/\d+$/);
  await write(cy.page, "We met at the exhibition");
  await ana.page.goto(`${address}/messages`);
  await ana.page.getByRole("link", { name: "Requests" }).click();
  await ana.page.getByRole("link", { name: /exhibition/ }).click();
  await ana.page.getByText("would like to write to you").waitFor();
  await screenshot(ana.page, shots, "messages-request");
  await ana.page.getByRole("button", { name: "Accept" }).click();
  await write(ana.page, "I remember, welcome");
  await messages(cy.page).getByText("I remember, welcome").waitFor();
}

async function makeGroup(ana, bo) {
  const { page } = ana;
  await page.goto(`${address}/messages`);
  await page.getByRole("button", { name: "New message" }).first().click();
  const dialog = page.locator("dialog");
  for (const name of [BO, CY]) {
    await dialog.getByRole("searchbox").fill(name);
    await dialog.getByRole("list", { name: "Results" }).getByRole("button", { name }).click();
  }
  await dialog.getByLabel("Group name").fill("Sunrise club");
  await dialog.getByRole("button", { name: "Create group" }).click();
  await page.waitForURL(/\/messages\/\d+$/);
  await write(page, "Five o’clock?");
  await bo.page.goto(`${address}/messages`);
  await bo.page.getByRole("link", { name: /Sunrise club/ }).click();
  await messages(bo.page).getByText("Five o’clock?").waitFor();
  await write(bo.page, "I am in");
  await messages(page).getByText("I am in").waitFor();
  await page.getByRole("button", { name: "Conversation options" }).click();
  await page.getByRole("button", { name: /^People/ }).click();
  await page.getByRole("button", { name: `Make ${BO} an admin` }).click();
  await page.getByRole("button", { name: `Remove ${BO} as admin` }).waitFor();
  await page.getByRole("button", { name: `Remove ${CY} from the group` }).click();
  await page.getByRole("button", { name: `Remove ${CY} from the group` }).waitFor({ state: "detached" });
  await screenshot(page, shots, "messages-members");
  await page.getByRole("button", { name: "Close" }).click();
  await setGroupPhoto(page, bo.page);
  await setLifetime(page, bo.page);
}

/** An admin sets the group's photo; the others see it. */
async function setGroupPhoto(page, othersPage) {
  await page.getByRole("button", { name: "Conversation options" }).click();
  await page.getByRole("button", { name: "Group photo" }).click();
  await page.locator("dialog input[type=file]").setInputFiles(photo);
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator("dialog .avatar img").waitFor();
  await screenshot(page, shots, "messages-group-photo");
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator("main header .avatar img").waitFor();
  await othersPage.reload();
  await othersPage.locator("main header .avatar img").waitFor();
}

async function setLifetime(page, othersPage) {
  await page.getByRole("button", { name: "Conversation options" }).click();
  await page.getByRole("button", { name: /^Disappearing messages/ }).click();
  await page.getByRole("radio", { name: "7 days" }).check();
  await page.getByRole("radio", { name: "when everybody has seen it" }).check();
  await screenshot(page, shots, "messages-lifetime");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("7 days after being seen").waitFor();
  await othersPage.getByText("7 days after being seen").waitFor();
}

async function findMessage(ana) {
  const { page } = ana;
  await page.getByRole("link", { name: "Search messages" }).click();
  await waitUntil(async () => {
    await page.getByRole("searchbox").fill("");
    await page.getByRole("searchbox").fill("lighthouse");
    return page
      .getByRole("link", { name: /lighthouse tomorrow/ })
      .waitFor({ timeout: 2_000 })
      .then(
        () => true,
        () => false,
      );
  });
  await page.getByRole("link", { name: /lighthouse tomorrow/ }).click();
  await page.locator("li.isMarked", { hasText: "lighthouse tomorrow" }).waitFor();
}

async function writeOffline(ana, bo, threadId) {
  await bo.page.goto(`${address}/messages/${threadId}`);
  await messages(bo.page).getByText("Your best one").waitFor();
  await ana.page.goto(`${address}/messages/${threadId}`);
  await messages(ana.page).getByText("Your best one").waitFor();
  await ana.context.setOffline(true);
  for (const text of ["First of three", "Second of three", "Third of three"]) await write(ana.page, text);
  await messages(ana.page).getByText("Waiting for a connection").last().waitFor();
  await screenshot(ana.page, shots, "messages-offline");
  await ana.context.setOffline(false);
  await ana.page.reload();
  await messages(bo.page).getByText("Third of three").waitFor();
  await ana.page.reload();
  await messages(ana.page).getByText("Third of three").waitFor();
  const { messages: stored } = await ana.call("GET", `/direct/threads/${threadId}/messages?limit=10`);
  const texts = stored.map(({ text }) => text).filter((text) => text.endsWith("of three"));
  assert.deepEqual(
    texts,
    ["Third of three", "Second of three", "First of three"],
    "each arrives once, in order",
  );
}
