/** What an encrypted message says, once it is decrypted: JSON, so that older and newer releases understand each other. */
import { decodeText, encodeText } from "./bytes";

/** A file that was encrypted on the sender's device; the key travels in the message alone. */
export interface SealedFile {
  readonly key: string;
  readonly iv: string;
  readonly type: string;
  readonly name: string;
  readonly size: number;
  readonly width?: number;
  readonly height?: number;
}

export type Content =
  | { readonly type: "text"; readonly text: string; readonly replyTo?: string }
  | { readonly type: "file"; readonly file: SealedFile; readonly text: string; readonly replyTo?: string }
  | { readonly type: "reaction"; readonly to: string; readonly emoji: string | null }
  | { readonly type: "edit"; readonly to: string; readonly text: string };

/** Reactions and edits change another message: they count as no new one. */
export function isChange(content: Content): boolean {
  return content.type === "reaction" || content.type === "edit";
}

export function encodeContent(content: Content): Uint8Array {
  return encodeText(JSON.stringify({ v: 1, ...content }));
}

/** The content, or null for what this release does not understand. */
export function decodeContent(bytes: Uint8Array): Content | null {
  try {
    const found: unknown = JSON.parse(decodeText(bytes));
    return isContent(found) ? found : null;
  } catch {
    return null; // Whoever sent it is in the group and may still send nonsense.
  }
}

function isContent(value: unknown): value is Content {
  if (typeof value !== "object" || value === null) return false;
  const { type, text, to, emoji, file } = value as Record<string, unknown>;
  if (type === "text") return typeof text === "string";
  if (type === "edit") return typeof to === "string" && typeof text === "string";
  if (type === "reaction") return typeof to === "string" && (emoji === null || typeof emoji === "string");
  return type === "file" && typeof text === "string" && isFile(file);
}

function isFile(value: unknown): value is SealedFile {
  if (typeof value !== "object" || value === null) return false;
  const { key, iv, type, name, size } = value as Record<string, unknown>;
  return [key, iv, type, name].every((each) => typeof each === "string") && typeof size === "number";
}
