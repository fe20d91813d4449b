/** Where pictures that were seen lie on this device, and under which name; the service worker puts them there. */

export const PICTURES = "tintype-pictures";

const SIGNATURE = /^\/media\/~[^/]+\//;

/** An address that is signed for a while changes, its picture does not: it is kept under the address without the signature. */
export function pictureKey(address: string): string {
  return new URL(address, location.href).pathname.replace(SIGNATURE, "/media/");
}
