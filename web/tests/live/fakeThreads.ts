/** The server's side of the contract for devices (docs/adr/0073), which loses requests and responses on command. */
import { Problem } from "../../src/client";
import type { Reply } from "../../src/live";

export interface ReceivedChange {
  readonly kind: string;
  readonly localId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

const problem = (status: number, code: string) => new Problem({ status, code });
export const OFFLINE = problem(0, "offline");

export class FakeThreads {
  /** The accepted changes, in order. */
  readonly accepted: ReceivedChange[] = [];
  /** What happens to the next requests: "lost" means done, but the response never arrives. */
  readonly faults: (Problem | "lost" | null)[] = [];
  /** Texts that are refused for good. */
  readonly refused = new Set<string>();
  isDown = false;
  asked = 0;
  readonly #results = new Map<string, Reply>();
  readonly #counters = new Map<string, number>();

  readonly send = async (kind: string, payload: object, localId: string): Promise<Reply> => {
    this.asked += 1;
    if (this.isDown) throw OFFLINE;
    const fault = this.faults.shift() ?? null;
    if (fault instanceof Problem) throw fault;
    const reply = this.#accept({ kind, localId, payload: { ...payload } });
    if (fault === "lost") throw problem(0, "timeout");
    return reply;
  };

  readonly fetchCounter = async (threadId: string, deviceId: string): Promise<number> => {
    if (this.isDown) throw OFFLINE;
    return this.#counters.get(`${threadId} ${deviceId}`) ?? 0;
  };

  texts(threadId = "t"): unknown[] {
    return this.accepted
      .filter(({ payload }) => payload["thread_id"] === threadId)
      .map(({ payload }) => payload["text"]);
  }

  #accept(change: ReceivedChange): Reply {
    const known = this.#results.get(change.localId);
    if (known !== undefined) return known;
    const { thread_id, device_id, counter, text } = change.payload;
    const device = `${thread_id} ${device_id}`;
    const last = this.#counters.get(device) ?? 0;
    if (Number(counter) <= last) throw problem(409, "counter_used");
    if (Number(counter) > last + 1) throw problem(409, "earlier_missing");
    if (this.refused.has(String(text))) throw problem(403, "may_not_write");
    this.#counters.set(device, last + 1);
    this.accepted.push(change);
    const reply =
      change.kind === "direct.send" ? { message_id: String(this.accepted.length), number: last + 1 } : {};
    this.#results.set(change.localId, reply);
    return reply;
  }
}
