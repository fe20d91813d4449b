/** Client-side validation of forms, as early feedback; the server's rules decide. */
import type { MessageKey } from "../../base/i18n";

export type ValidationMessage = Extract<MessageKey, `account.${string}`> | null;

export function checkUsername(text: string): ValidationMessage {
  const username = text.trim().toLowerCase();
  if (username === "") return "account.usernameMissing";
  return /^[a-z0-9_](?:[a-z0-9_]|\.(?!\.|$)){0,29}$/.test(username) ? null : "account.usernameShape";
}

/** Counts code points, as the server does. */
export function checkNewPassword(password: string): ValidationMessage {
  if (password === "") return "account.passwordMissing";
  return [...password].length < 8 ? "account.passwordShort" : null;
}
