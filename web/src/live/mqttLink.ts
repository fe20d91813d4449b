/**
 * A connection that is made again whenever it breaks: at once where it had stood, with exponential backoff and jitter where it
 * could not be made. Each one takes a new token: tokens are valid for a minute, and the broker ends connections after an hour.
 */
import { retryDelay } from "../base/retryDelay";
import { Problem } from "../client";
import type { Link, LinkEvents } from "./link";
import type { Connection, Credentials } from "./mqttConnection";

export interface MqttLinkDependencies extends LinkEvents {
  readonly getCredentials: () => Promise<Credentials>;
  readonly connect: (
    credentials: Credentials,
    onMessage: (leaf: string, content: unknown) => void,
  ) => Promise<Connection>;
  /** Called with each new connection before it counts as online: fills the gap since the last one; false where that failed. */
  readonly onConnected: () => Promise<boolean>;
}

const RETRY = { first_ms: 1_000, max_ms: 60_000 };

export class MqttLink implements Link {
  readonly #deps: MqttLinkDependencies;
  #connection: Connection | null = null;
  #failures = 0;
  #isClosed = false;
  #endWait: () => void = () => {};

  constructor(deps: MqttLinkDependencies) {
    this.#deps = deps;
    void this.#run();
  }

  publish(body: string): void {
    this.#connection?.publish(body);
  }

  wake(): void {
    this.#endWait();
    void this.#connection?.check();
  }

  close(): void {
    this.#isClosed = true;
    this.#endWait();
    this.#connection?.close();
  }

  async #run(): Promise<void> {
    this.#deps.onState("connecting");
    while (!this.#isClosed) {
      try {
        await this.#hold(await this.#open());
      } catch (error) {
        if (isHopeless(error)) return this.#setState("offline");
      }
      this.#setState("offline");
      this.#failures += 1;
      if (!this.#isClosed) await this.#wait(retryDelay(this.#failures, RETRY));
    }
  }

  async #open(): Promise<Connection> {
    const credentials = await this.#deps.getCredentials();
    const connection = await this.#deps.connect(credentials, (leaf, content) => {
      if (!this.#isClosed) this.#deps.onMessage(leaf, content);
    });
    if (this.#isClosed) connection.close();
    return connection;
  }

  /** Uses a connection until it ends. */
  async #hold(connection: Connection): Promise<void> {
    this.#connection = connection;
    try {
      if (await this.#deps.onConnected()) {
        this.#failures = 0;
        this.#setState("online");
        await connection.closed;
      }
    } finally {
      this.#connection = null;
      connection.close();
    }
  }

  #setState(state: "online" | "offline"): void {
    if (!this.#isClosed) this.#deps.onState(state);
  }

  #wait(delay_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#endWait(), delay_ms);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The site has no live connections, or nobody is signed in any more: asking again will not help. */
function isHopeless(error: unknown): boolean {
  return error instanceof Problem && [401, 403, 404].includes(error.status);
}
