/** One MQTT connection over WebSocket, from its handshake to its end. What it knows of MQTT is u8-mqtt, which loads with the first one. */
import type { MqttClient } from "u8-mqtt/esm/web/basic-v4.js";
import type { Schemas } from "../client";

export type Credentials = Schemas["ConnectTokenView"];

export interface Connection {
  /** Settles when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  /** Publishes a command at QoS 1. That it arrived is only known by its reply. */
  publish(body: string): void;
  /** Finds out whether the other side is still there, and closes the connection where it is not. */
  check(): Promise<void>;
  close(): void;
}

export interface ConnectionOptions {
  readonly url: string;
  readonly credentials: Credentials;
  /** The part of the client id that this browser chooses. */
  readonly device: string;
  /** Called with the last part of the topic, and the parsed payload. */
  readonly onMessage: (leaf: string, content: unknown) => void;
}

const HANDSHAKE_MS = 15_000;
const ANSWER_MS = 15_000;
/** Browsers run the timers of hidden tabs once a minute: a ping may be that late, and the broker waits half as long again. */
const KEEP_ALIVE_S = 120;
const PING_MS = 50_000;

/** Connects and subscribes; rejects where that fails. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { mqtt_v4 } = await import("u8-mqtt/esm/web/basic-v4.js");
  const socket = new WebSocket(options.url, ["mqtt"]);
  const closed = new Promise<void>((resolve) => {
    socket.addEventListener("close", () => resolve(), { once: true });
  });
  const client = mqtt_v4({
    keep_alive: 0,
    on_mqtt_type: { mqtt_publish: (packet) => receive(packet.topic, packet.text(), options.onMessage) },
    log_conn: () => {},
    on_error: () => socket.close(),
  }).with_websock(socket);
  try {
    await within(HANDSHAKE_MS, closed, handshake(client, options));
  } catch (error) {
    socket.close();
    throw error;
  }
  return new MqttConnection(client, socket, closed, `${options.credentials.topic}/commands`);
}

async function handshake(client: MqttClient, { credentials, device }: ConnectionOptions): Promise<void> {
  await client.connect({
    client_id: credentials.client_id_prefix + device,
    username: credentials.username,
    password: credentials.password,
    keep_alive: KEEP_ALIVE_S,
    flags: { clean_start: true },
  });
  const [answer] = await client.subscribe([`${credentials.topic}/#`]);
  if (Number(answer?.answers?.[0] ?? 0x80) >= 0x80) throw new Error("the subscription was refused");
}

function receive(topic: string, text: string, onMessage: ConnectionOptions["onMessage"]): void {
  onMessage(topic.slice(topic.lastIndexOf("/") + 1), JSON.parse(text));
}

/** The outcome of the work, unless the connection ends or the time is over first. */
function within<T>(limit_ms: number, closed: Promise<void>, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no answer in time")), limit_ms);
    const settle = (then: () => void) => {
      clearTimeout(timer);
      then();
    };
    void closed.then(() => settle(() => reject(new Error("the connection was closed"))));
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

class MqttConnection implements Connection {
  readonly #client: MqttClient;
  readonly #socket: WebSocket;
  readonly #topic: string;
  readonly closed: Promise<void>;
  #checking: Promise<void> | null = null;

  constructor(client: MqttClient, socket: WebSocket, closed: Promise<void>, topic: string) {
    this.#client = client;
    this.#socket = socket;
    this.#topic = topic;
    this.closed = closed;
    const pings = setInterval(() => void this.check(), PING_MS);
    void closed.then(() => clearInterval(pings));
  }

  publish(body: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) void this.#client.send(this.#topic, body);
  }

  check(): Promise<void> {
    this.#checking ??= within(ANSWER_MS, this.closed, this.#client.ping())
      .then(
        () => undefined,
        () => this.close(),
      )
      .finally(() => {
        this.#checking = null;
      });
    return this.#checking;
  }

  close(): void {
    this.#socket.close();
  }
}
