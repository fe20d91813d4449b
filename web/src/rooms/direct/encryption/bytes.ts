/** Bytes as text and back: base64url without padding, as the server's JSON has them. */

/** Bytes of their own buffer, as Web Crypto takes them. */
export type Bytes = Uint8Array<ArrayBuffer>;

const CHUNK = 0x8000;

export function toBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function fromBase64Url(text: string): Bytes {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (char) => char.charCodeAt(0));
}

export function encodeText(text: string): Bytes {
  return new TextEncoder().encode(text) as Bytes;
}

export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/** A copy that owns its buffer: views of a larger one, or of a shared one, are not for Web Crypto. */
export function own(bytes: Uint8Array): Bytes {
  return Uint8Array.from(bytes);
}

export function join(...parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

export async function digest(bytes: Uint8Array): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", own(bytes))));
}
