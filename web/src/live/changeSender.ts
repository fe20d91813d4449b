/** Sends one change of a thread: its file first, then the change under the device's next counter. */
import type { ObjectStore } from "../base/indexedDb";
import { Problem } from "../client";
import type { Change, QueuedChange, Reply } from "./contract";
import type { DeviceCounters } from "./deviceCounters";

/** A change as it is stored. */
export interface StoredChange {
  /** The local id. */
  readonly key: string;
  readonly accountId: string;
  readonly threadId: string;
  readonly change: Change;
  readonly at_ms: number;
  /** How often the server answered with an error of its own. */
  readonly serverErrors: number;
  readonly problem: QueuedChange["problem"];
  /** The upload of its file, while it is under way. */
  readonly uploadId: string | null;
  /** What the file became on the server. */
  readonly mediaId: string | null;
}

export interface ChangeSenderDependencies {
  readonly store: ObjectStore<StoredChange>;
  readonly counters: DeviceCounters;
  readonly send: (kind: string, payload: object, localId: string) => Promise<Reply>;
  /** Uploads the file of a change, or what is missing of it; resolves to the id of the media. */
  readonly upload: (file: File, entry: StoredChange, onProgress: (share: number) => void) => Promise<string>;
}

type Result = QueuedChange["result"];

/** How often counters are looked up anew for one change before it waits. */
const MAX_RESYNCS = 3;

export class ChangeSender {
  readonly #deps: ChangeSenderDependencies;

  constructor(deps: ChangeSenderDependencies) {
    this.#deps = deps;
  }

  /** Resolves to the message that a change has made, if any; rejects with a Problem. */
  async send(entry: StoredChange, onProgress: (share: number) => void): Promise<Result> {
    const body = await this.#prepare(entry, onProgress);
    try {
      return await this.#sendInStep(entry, body);
    } catch (error) {
      if (!hasLostMedia(error, entry)) throw error;
      await this.#deps.store.update(entry.key, (current) => ({ ...current, uploadId: null, mediaId: null }));
      throw new Problem({ status: 503, code: "media_lost" });
    }
  }

  async #sendInStep(entry: StoredChange, body: object): Promise<Result> {
    for (let resyncs = 0; ; resyncs += 1) {
      const { deviceId, counter } = await this.#deps.counters.next(entry.accountId, entry.threadId);
      const payload = { ...body, thread_id: entry.threadId, device_id: deviceId, counter };
      try {
        const reply = await this.#deps.send(`direct.${entry.change.kind}`, payload, entry.key);
        await this.#deps.counters.accept(entry.accountId, entry.threadId, counter);
        return typeof reply["message_id"] === "string" ? (reply as Result) : null;
      } catch (error) {
        if (!isOutOfStep(error)) throw error;
        if (resyncs >= MAX_RESYNCS) throw new Problem({ status: 503, code: "out_of_step" });
        await this.#deps.counters.resync(entry.accountId, entry.threadId);
      }
    }
  }

  /** What the change carries, with its file uploaded. */
  async #prepare(entry: StoredChange, onProgress: (share: number) => void): Promise<object> {
    const { change } = entry;
    if (change.kind !== "send" || change.file === undefined) return change.body;
    const media_id = entry.mediaId ?? (await this.#deps.upload(change.file, entry, onProgress));
    await this.#deps.store.update(entry.key, (current) => ({ ...current, mediaId: media_id }));
    return { ...change.body, media_id };
  }
}

function isOutOfStep(error: unknown): boolean {
  return error instanceof Problem && ["earlier_missing", "counter_used"].includes(error.code);
}

/** The file was uploaded at an earlier attempt, and the server has deleted it since: it keeps what is not sent for a day. */
function hasLostMedia(error: unknown, { mediaId }: StoredChange): boolean {
  return mediaId !== null && error instanceof Problem && error.code === "message_media_invalid";
}
