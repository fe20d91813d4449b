/** Files in encrypted messages: AES-256-GCM under a key of their own, which travels in the message. */
import { type Bytes, fromBase64Url, own, toBase64Url } from "./bytes";
import type { SealedFile } from "./content";

const KEY_BYTES = 32;
const IV_BYTES = 12;

export interface FileInfo {
  readonly type: string;
  readonly name: string;
  readonly width?: number;
  readonly height?: number;
}

export async function encryptFile(plain: Uint8Array, info: FileInfo): Promise<[Uint8Array, SealedFile]> {
  const raw = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const key = await importKey(raw);
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, own(plain)));
  return [sealed, { ...info, key: toBase64Url(raw), iv: toBase64Url(iv), size: plain.length }];
}

/** The file, or a rejection where a single bit is not as its sender made it. */
export async function decryptFile(sealed: Uint8Array, file: SealedFile): Promise<Bytes> {
  const key = await importKey(fromBase64Url(file.key));
  const iv = fromBase64Url(file.iv);
  return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, own(sealed)));
}

function importKey(raw: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt", "decrypt"]);
}
