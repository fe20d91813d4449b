/** A broker behind a fake WebSocket: it speaks as much MQTT 3.1.1 as devices need, and breaks on command. */
import { vi } from "vitest";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface SentCommand {
  readonly id: string;
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

class FakeSocket extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 3;
  readyState = 0;
  binaryType = "blob";
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: ArrayBuffer }) => void) | null = null;
  onerror: (() => void) | null = null;
  onclose: ((event: { wasClean: boolean; code: number; reason: string }) => void) | null = null;
  readonly broker: FakeBroker;
  readonly url: string;

  constructor(broker: FakeBroker, url: string, protocols: string[]) {
    super();
    this.broker = broker;
    this.url = url;
    if (protocols.join() !== "mqtt") throw new Error("the subprotocol is mqtt");
    queueMicrotask(() => (broker.isDown ? this.drop() : this.#open()));
  }

  send(bytes: Uint8Array): void {
    if (this.readyState === FakeSocket.OPEN) this.broker.receive(this, bytes);
  }

  close(): void {
    this.drop(true);
  }

  /** The connection ends, whoever ended it. */
  drop(wasClean = false): void {
    if (this.readyState === FakeSocket.CLOSED) return;
    this.readyState = FakeSocket.CLOSED;
    this.onclose?.({ wasClean, code: wasClean ? 1000 : 1006, reason: "" });
    this.dispatchEvent(new Event("close"));
  }

  deliver(packet: readonly number[]): void {
    if (this.readyState === FakeSocket.OPEN) this.onmessage?.({ data: new Uint8Array(packet).buffer });
  }

  #open(): void {
    this.readyState = FakeSocket.OPEN;
    this.onopen?.();
  }
}

export class FakeBroker {
  readonly sockets: FakeSocket[] = [];
  readonly clientIds: string[] = [];
  /** Topics with the QoS that was asked for. */
  readonly subscriptions: string[] = [];
  readonly commands: SentCommand[] = [];
  pings = 0;
  isDown = false;
  /** It does not answer any more, as behind a tunnel. */
  isDeaf = false;
  /** What becomes of a command; null leaves it without a reply. */
  answer: (command: SentCommand) => object | null = () => ({});

  install(): this {
    const open = (url: string, protocols: string[]): FakeSocket => {
      const socket = new FakeSocket(this, url, protocols);
      this.sockets.push(socket);
      return socket;
    };
    vi.stubGlobal(
      "WebSocket",
      Object.assign(
        function FakeWebSocket(url: string, protocols: string[]) {
          return open(url, protocols);
        },
        { OPEN: FakeSocket.OPEN },
      ),
    );
    return this;
  }

  get open(): FakeSocket[] {
    return this.sockets.filter(({ readyState }) => readyState === FakeSocket.OPEN);
  }

  /** Publishes on a topic of the account, to all who are connected. */
  publish(leaf: string, content: unknown): void {
    const topic = encoder.encode(`/u/7/${leaf}`);
    const payload = encoder.encode(JSON.stringify(content));
    const body = [topic.length >> 8, topic.length & 255, ...topic, ...payload];
    for (const socket of this.open) socket.deliver([0x30, ...varint(body.length), ...body]);
  }

  /** Ends all connections. */
  drop(): void {
    for (const socket of this.open) socket.drop();
  }

  receive(socket: FakeSocket, bytes: Uint8Array): void {
    if (this.isDeaf) return;
    const kind = (bytes[0] ?? 0) >> 4;
    const body = bytes.subarray(bodyStart(bytes));
    if (kind === 1) this.#connect(socket, body);
    if (kind === 3) this.#command(socket, body);
    if (kind === 8) this.#subscribe(socket, body);
    if (kind === 12) {
      this.pings += 1;
      socket.deliver([0xd0, 0]);
    }
  }

  #connect(socket: FakeSocket, body: Uint8Array): void {
    const flags = body[7] ?? 0;
    if ((flags & 0b11000010) !== 0b11000010) throw new Error("clean session with credentials");
    this.clientIds.push(text(body, 10));
    socket.deliver([0x20, 2, 0, 0]);
  }

  #subscribe(socket: FakeSocket, body: Uint8Array): void {
    const topic = text(body, 2);
    this.subscriptions.push(`${topic} ${body[4 + topic.length]}`);
    socket.deliver([0x90, 3, body[0] ?? 0, body[1] ?? 0, 0]);
  }

  #command(socket: FakeSocket, body: Uint8Array): void {
    const topic = text(body, 0);
    const end = 2 + topic.length;
    socket.deliver([0x40, 2, body[end] ?? 0, body[end + 1] ?? 0]);
    const command = JSON.parse(decoder.decode(body.subarray(end + 2))) as SentCommand;
    this.commands.push(command);
    const reply = this.answer(command);
    if (reply !== null) this.publish("replies", { id: command.id, ...reply });
  }
}

function text(body: Uint8Array, at: number): string {
  const length = ((body[at] ?? 0) << 8) | (body[at + 1] ?? 0);
  return decoder.decode(body.subarray(at + 2, at + 2 + length));
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}

function bodyStart(bytes: Uint8Array): number {
  let at = 1;
  while ((bytes[at] ?? 0) & 128) at += 1;
  return at + 1;
}
