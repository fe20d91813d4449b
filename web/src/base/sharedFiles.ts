/** What another app has shared with this one: the service worker receives it, the composer takes it. */
import { type Keyed, openObjectStore } from "./indexedDb";

export interface Shared extends Keyed {
  readonly files: readonly File[];
  readonly text: string;
  readonly at_ms: number;
}

/** What nobody took for so long (there was no session) is dropped. */
const KEPT_MS = 60 * 60_000;
const store = openObjectStore<Shared>("shared");

export async function keepShared(files: readonly File[], text: string): Promise<void> {
  const at_ms = Date.now();
  await store.put({ key: String(at_ms), files, text, at_ms });
}

/** What was shared, once; null when there is nothing. */
export async function takeShared(): Promise<Pick<Shared, "files" | "text"> | null> {
  const all = await store.all();
  if (all.length === 0) return null;
  await store.remove(...all.map(({ key }) => key));
  const recent = all.filter(({ at_ms }) => Date.now() - at_ms < KEPT_MS);
  if (recent.length === 0) return null;
  return { files: recent.flatMap(({ files }) => files), text: recent.map(({ text }) => text).join("\n") };
}
