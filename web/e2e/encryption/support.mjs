/** Devices of people for encryption flows: the app's own library, in Node, against a running server. */
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));
const vite = await createServer({
  root,
  configFile: false,
  logLevel: "error",
  appType: "custom",
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, hmr: false, watch: null, ws: false },
});

/** A module of the library, as the app has it. */
export const load = (path) => vite.ssrLoadModule(`/src/rooms/direct/encryption/${path}`);
export const library = await load("index.ts");
export const close = () => vite.close();

/** Weaker than the app's, so that a busy machine needs no minutes. */
export const QUICK = { t: 1, m: 256, p: 1 };

class HttpError extends Error {
  constructor(status, body) {
    super(`${status} ${body}`);
    this.status = status;
    try {
      this.code = JSON.parse(body).code;
    } catch {
      this.code = "";
    }
  }
}

/** Requests with somebody's token; `seen` has every body that was sent. */
export function transport(address, token) {
  const seen = [];
  const headers = { Authorization: `Bearer ${token}` };
  async function request(method, path, options = {}) {
    const url = new URL(`${address}/api/v1${path}`);
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
    }
    const body = options.bytes ?? (options.json === undefined ? undefined : JSON.stringify(options.json));
    if (body !== undefined) seen.push({ method, path, body });
    const type = options.bytes === undefined ? "application/json" : "application/octet-stream";
    const response = await fetch(url, {
      method,
      body,
      headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": type }) },
    });
    if (!response.ok) throw new HttpError(response.status, await response.text());
    return response;
  }
  return {
    seen,
    async call(method, path, options) {
      const text = await (await request(method, path, options)).text();
      return text === "" ? null : JSON.parse(text);
    },
    async upload(path, bytes) {
      return (await request("POST", path, { bytes })).json();
    },
    async download(path) {
      return new Uint8Array(await (await request("GET", path)).arrayBuffer());
    },
  };
}

/** A device of somebody. */
export async function openDevice(address, person, name) {
  const carrier = transport(address, person.token);
  const store = new library.InMemoryKeyStore();
  const client = await library.EncryptionClient.open(store, carrier, name);
  return { client, store, transport: carrier, person };
}

export const text = (words, more = {}) => ({ type: "text", text: words, ...more });
/** What a device can read in a conversation. */
export const texts = async (device, threadId) =>
  (await device.client.read(threadId)).filter((each) => each.unreadable === null).map((each) => each.text);

export function expect(actual, wanted, what) {
  const [found, expected] = [JSON.stringify(actual), JSON.stringify(wanted)];
  if (found !== expected) throw new Error(`${what}: expected ${expected}, found ${found}`);
}

/** The code of a refusal; fails where there is none. */
export async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    return library.codeOf(error) || error.message;
  }
  throw new Error("This should have been refused.");
}
