/** `crypto.randomUUID` exists only over HTTPS; a site on a home network is often plain HTTP, so draw the bytes ourselves. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
