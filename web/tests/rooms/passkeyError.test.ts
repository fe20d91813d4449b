import { expect, test } from "vitest";
import { language } from "../../src/base/i18n";
import { passkeyErrorMessage } from "../../src/rooms/accounts/passkeyError";

const refused = (name: string) => new DOMException("refused", name);

test("a passkey at an IP address names the address that works", async () => {
  await language.loadNamespaces("accounts");

  const message = passkeyErrorMessage(refused("SecurityError"), new URL("http://127.0.0.1:8080/login"));

  expect(message).toContain("http://localhost:8080");
});

test("each objection of the browser has words of its own", async () => {
  await language.loadNamespaces("accounts");
  const here = new URL("https://photos.example.org/login");
  const names = [
    "NotAllowedError",
    "SecurityError",
    "InvalidStateError",
    "NotSupportedError",
    "UnknownError",
  ];

  const messages = names.map((name) => passkeyErrorMessage(refused(name), here));

  expect(new Set(messages).size).toBe(names.length);
  expect(messages.every((message) => !message.startsWith("passkey."))).toBe(true);
});
