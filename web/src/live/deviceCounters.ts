/**
 * This browser as a device of the account: its id, and how many of its changes each thread has accepted. They are stored together,
 * and beside the queue: a browser that lost one has lost the others, and becomes a new device.
 */
import type { ObjectStore } from "../base/indexedDb";

export interface StoredDevice {
  /** The account. */
  readonly key: string;
  readonly deviceId: string;
  /** The counter of the latest accepted change, by thread. */
  readonly counters: Readonly<Record<string, number>>;
}

export interface DeviceCountersDependencies {
  readonly store: ObjectStore<StoredDevice>;
  readonly newId: () => string;
  /** Asks the server how far the device has come in a thread. */
  readonly fetchCounter: (threadId: string, deviceId: string) => Promise<number>;
}

export class DeviceCounters {
  readonly #deps: DeviceCountersDependencies;

  constructor(deps: DeviceCountersDependencies) {
    this.#deps = deps;
  }

  /** The device, which is made up on its first use. */
  async device(accountId: string): Promise<StoredDevice> {
    const known = await this.#deps.store.get(accountId);
    if (known !== null) return known;
    const device: StoredDevice = { key: accountId, deviceId: this.#deps.newId(), counters: {} };
    await this.#deps.store.put(device);
    return device;
  }

  /** The counter of the next change in a thread; a guess where this device has not written there yet. */
  async next(accountId: string, threadId: string): Promise<{ deviceId: string; counter: number }> {
    const { deviceId, counters } = await this.device(accountId);
    return { deviceId, counter: (counters[threadId] ?? 0) + 1 };
  }

  /** The server has accepted a change under this counter. */
  async accept(accountId: string, threadId: string, counter: number): Promise<void> {
    await this.#deps.store.update(accountId, (device) => ({
      ...device,
      counters: { ...device.counters, [threadId]: counter },
    }));
  }

  /** The guess was wrong: asks the server. */
  async resync(accountId: string, threadId: string): Promise<void> {
    const { deviceId } = await this.device(accountId);
    await this.accept(accountId, threadId, await this.#deps.fetchCounter(threadId, deviceId));
  }
}
