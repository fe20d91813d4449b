/**
 * Commands and their replies. A command goes over the live connection and is repeated once; where no reply comes it goes over
 * HTTP under the same id, by which the server knows it: it takes effect once, whichever way it came.
 */
import { randomId } from "../base/random";
import { Problem } from "../client";
import type { Reply } from "./contract";
import { findHttpCommand } from "./httpCommands";

export interface CommandDependencies {
  readonly isOnline: () => boolean;
  readonly publish: (body: string) => void;
}

interface SentReply {
  readonly id: string;
  readonly result?: Reply | null;
  readonly error?: { readonly code: string; readonly detail: string } | null;
}

/** How long to wait for a reply before the command is repeated, then before it goes over HTTP. */
const REPEAT_MS = 4_000;
const GIVE_UP_MS = 10_000;

/** What HTTP would answer with, for those codes that are more than a refusal. */
const STATUS: Readonly<Record<string, number>> = {
  not_signed_in: 401,
  earlier_missing: 409,
  counter_used: 409,
  rate_limited: 429,
  unavailable: 503,
};

export class Commands {
  readonly #deps: CommandDependencies;
  readonly #waiting = new Map<string, (reply: SentReply | null) => void>();

  constructor(deps: CommandDependencies) {
    this.#deps = deps;
  }

  /** Carries out a command; rejects with a Problem. */
  async run(kind: string, payload: object, id = randomId()): Promise<Reply> {
    const reply = this.#deps.isOnline() ? await this.#ask(kind, payload, id) : null;
    if (reply !== null) return read(reply);
    const send = findHttpCommand(kind, payload, id);
    if (send === null) throw new Problem({ status: 0, code: "offline" });
    return (await send()) ?? {};
  }

  /** Publishes a command whose reply nobody waits for. */
  hint(kind: string, payload: object): void {
    if (this.#deps.isOnline()) this.#deps.publish(encode(kind, payload, randomId()));
  }

  /** A reply arrived: to a command of this tab, of another one, or of another device. */
  receive(reply: SentReply): void {
    this.#waiting.get(reply.id)?.(reply);
  }

  /** The connection is gone: whoever waits takes the other way. */
  release(): void {
    for (const settle of [...this.#waiting.values()]) settle(null);
  }

  #ask(kind: string, payload: object, id: string): Promise<SentReply | null> {
    const body = encode(kind, payload, id);
    return new Promise((resolve) => {
      const repeat = setTimeout(() => this.#deps.publish(body), REPEAT_MS);
      const giveUp = setTimeout(() => settle(null), GIVE_UP_MS);
      const settle = (reply: SentReply | null): void => {
        clearTimeout(repeat);
        clearTimeout(giveUp);
        this.#waiting.delete(id);
        resolve(reply);
      };
      this.#waiting.set(id, settle);
      this.#deps.publish(body);
    });
  }
}

function encode(kind: string, payload: object, id: string): string {
  return JSON.stringify({ id, kind, payload });
}

function read({ result, error }: SentReply): Reply {
  if (!error) return result ?? {};
  throw new Problem({ status: STATUS[error.code] ?? 400, code: error.code, detail: error.detail });
}
