/** What can be said about a form before asking the server; the server's own rules decide. */
import type { MessageKey } from "../../base/i18n";

export type Complaint = Extract<MessageKey, `account.${string}`> | null;

export function checkUsername(text: string): Complaint {
  const username = text.trim().toLowerCase();
  if (username === "") return "account.usernameMissing";
  return /^[a-z0-9_](?:[a-z0-9_]|\.(?!\.|$)){0,29}$/.test(username) ? null : "account.usernameShape";
}

/** Characters as people count them, which is how the server counts too. */
export function checkNewPassword(password: string): Complaint {
  if (password === "") return "account.passwordMissing";
  return [...password].length < 8 ? "account.passwordShort" : null;
}
