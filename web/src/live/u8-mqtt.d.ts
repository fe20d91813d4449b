/** What is used of u8-mqtt, which has no types of its own. */
declare module "u8-mqtt/esm/web/basic-v4.js" {
  export interface MqttPacket {
    readonly topic: string;
    text(): string;
  }

  /** A response, or nothing where none came in time. */
  export type MqttResponse = readonly [packet?: { readonly answers?: readonly number[] }, error?: string];

  export interface MqttClient {
    with_websock(socket: WebSocket): MqttClient;
    /** Rejects where the broker refuses; never settles where the socket closes first. */
    connect(options: {
      client_id: string;
      username: string;
      password: string;
      keep_alive: number;
      flags: { clean_start: boolean };
    }): Promise<unknown>;
    subscribe(topics: readonly string[]): Promise<MqttResponse>;
    /** Publishes at QoS 1. */
    send(topic: string, payload: string): Promise<MqttResponse>;
    ping(): Promise<MqttResponse>;
  }

  export function mqtt_v4(options: {
    /** 0: the client does not ping by itself. */
    keep_alive: number;
    on_mqtt_type: { mqtt_publish(packet: MqttPacket): void };
    log_conn: () => void;
    on_error: (error: unknown) => void;
  }): MqttClient;
}
