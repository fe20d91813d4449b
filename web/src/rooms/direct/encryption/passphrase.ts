/** From a passphrase to the key of a backup: Argon2id, memory-hard, with its parameters in the header. */
import { argon2idAsync } from "@noble/hashes/argon2.js";
import { type Bytes, decodeText, encodeText, fromBase64Url, own, toBase64Url } from "./bytes";
import { EncryptionError } from "./errors";

/** RFC 9106: passes, memory in KiB, lanes. */
export interface Argon2Parameters {
  readonly t: number;
  readonly m: number;
  readonly p: number;
}

/** Some seconds in a browser, and 64 MiB for each guess of somebody who has the server's disk. */
export const ARGON2: Argon2Parameters = { t: 3, m: 65_536, p: 1 };
const STRONGEST: Argon2Parameters = { t: 10, m: 1_048_576, p: 4 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const IV_BYTES = 12;

interface Header {
  readonly v: 1;
  readonly kdf: "argon2id";
  readonly parameters: Argon2Parameters;
  readonly salt: string;
  readonly iv: string;
  readonly wrapped: string;
}

export function makeBackupKey(): Bytes {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES));
}

/** The header of a backup: its key, which only the passphrase opens. */
export async function wrapKey(key: Bytes, passphrase: string, parameters = ARGON2): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const wrapping = await derive(passphrase, salt, parameters);
  const wrapped = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, wrapping, key);
  const header: Header = {
    v: 1,
    kdf: "argon2id",
    parameters,
    salt: toBase64Url(salt),
    iv: toBase64Url(iv),
    wrapped: toBase64Url(new Uint8Array(wrapped)),
  };
  return toBase64Url(encodeText(JSON.stringify(header)));
}

/** The key of a backup; rejects with `wrong_passphrase`. */
export async function unwrapKey(text: string, passphrase: string): Promise<Bytes> {
  const header = readHeader(text);
  const wrapping = await derive(passphrase, fromBase64Url(header.salt), header.parameters);
  try {
    const iv = fromBase64Url(header.iv);
    return new Uint8Array(
      await crypto.subtle.decrypt({ name: "AES-GCM", iv }, wrapping, fromBase64Url(header.wrapped)),
    );
  } catch {
    throw new EncryptionError("wrong_passphrase");
  }
}

function readHeader(text: string): Header {
  const header = JSON.parse(decodeText(fromBase64Url(text))) as Header;
  const { t, m, p } = header.parameters;
  // The server holds the header: it must not make a device compute for hours.
  const isSane = t <= STRONGEST.t && m <= STRONGEST.m && p <= STRONGEST.p;
  if (header.v !== 1 || header.kdf !== "argon2id" || !isSane) throw new EncryptionError("malformed");
  return header;
}

async function derive(
  passphrase: string,
  salt: Uint8Array,
  parameters: Argon2Parameters,
): Promise<CryptoKey> {
  const secret = encodeText(passphrase.normalize("NFKC"));
  const raw = await argon2idAsync(secret, salt, { ...parameters, dkLen: KEY_BYTES });
  return await crypto.subtle.importKey("raw", own(raw), "AES-GCM", false, ["encrypt", "decrypt"]);
}
