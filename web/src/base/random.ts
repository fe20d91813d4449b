/** A random 128-bit id in hex. `crypto.randomUUID` exists only over HTTPS, and a site on a home network is often plain HTTP. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
