/** The HTTP half of the protocol behind `fetch`: tokens, and an update log. */
import { vi } from "vitest";
import type { Update } from "../../src/live";
import type { FakeBroker } from "./fakeBroker";

export class FakeSite {
  readonly updates: Update[] = [];
  /** The log's oldest update that is still there. */
  oldest = 1;
  /** Requests as "METHOD /path?query". */
  readonly requests: string[] = [];
  readonly bodies: unknown[] = [];
  tokens = 0;
  hasRealtime = true;
  isDown = false;
  readonly #broker: FakeBroker;

  constructor(broker: FakeBroker) {
    this.#broker = broker;
    vi.stubGlobal("fetch", (url: string, init: RequestInit) => this.#answer(url, init));
  }

  /** Logs an update, and publishes it unless it gets lost. */
  append(kind: string, payload: unknown, { isLost = false } = {}): void {
    const update = { seq: this.updates.length + 1, kind, at: "2026-11-18T00:00:00Z", payload };
    this.updates.push(update);
    if (!isLost) this.#broker.publish("updates", update);
  }

  count(request: RegExp): number {
    return this.requests.filter((each) => request.test(each)).length;
  }

  async #answer(url: string, init: RequestInit): Promise<Response> {
    const { pathname, searchParams, search } = new URL(url, "http://site.test");
    const path = pathname.replace("/api/v1", "");
    this.requests.push(`${init.method} ${path}${search}`);
    if (this.isDown) throw new TypeError("no connection");
    if (path === "/realtime/token") return this.#token();
    if (path === "/sync") return Response.json(this.#page(searchParams.get("since")));
    this.bodies.push(JSON.parse(String(init.body)));
    return Response.json({ message_id: "70", number: 1 });
  }

  #token(): Response {
    if (!this.hasRealtime) return Response.json({ code: "realtime_off" }, { status: 404 });
    this.tokens += 1;
    const password = `token ${this.tokens}`;
    return Response.json({
      username: "7",
      password,
      client_id_prefix: "7_1_",
      topic: "/u/7",
      expires_in_s: 60,
    });
  }

  #page(since: string | null) {
    const seq = this.updates.length;
    const after = Number(since ?? -1);
    const is_reset = since === null || after < this.oldest - 1 || after > seq;
    const updates = is_reset ? [] : this.updates.slice(after, after + 2);
    const has_more = updates.length > 0 && (updates.at(-1)?.seq ?? 0) < seq;
    return { updates, seq, is_reset, has_more };
  }
}
