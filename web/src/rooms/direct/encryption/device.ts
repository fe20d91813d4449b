/** This device: its keys, and the key packages by which others add it to conversations. */
import { generateKeyPackageWithKey, type KeyPackage, type PrivateKeyPackage } from "ts-mls";
import { makeKeyPackageRef } from "ts-mls/keyPackage.js";
import { toBase64Url } from "./bytes";
import { EncryptionError } from "./errors";
import type { KeyStore, Writes } from "./keyStore";
import { codeOf, type EncryptionServer } from "./server";
import { capabilities, credentialOf, getSuite, lifetime, writeMessage } from "./suite";

export interface Device {
  readonly accountId: string;
  readonly deviceId: string;
  readonly name: string;
  readonly signKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** Both halves of a key package, kept until a welcome names it; one of last resort stays. */
export interface OwnKeyPackage {
  readonly publicPackage: KeyPackage;
  readonly privatePackage: PrivateKeyPackage;
  readonly isLastResort: boolean;
}

const DEVICE = "device";
const WANTED = 50;
/** Below this many, more are made. */
const FEW = 20;

export const packageKey = (reference: Uint8Array) => `package:${toBase64Url(reference)}`;

export class Devices {
  readonly #store: KeyStore;
  readonly #server: EncryptionServer;

  constructor(store: KeyStore, server: EncryptionServer) {
    this.#store = store;
    this.#server = server;
  }

  find(): Promise<Device | null> {
    return this.#store.get<Device>(DEVICE);
  }

  async get(): Promise<Device> {
    const device = await this.find();
    if (device === null) throw new EncryptionError("no_device");
    return device;
  }

  /** This device as the server knows it: registered if it is not, or not any more, and with enough key packages. Offline, as it was. */
  setUp(name: string): Promise<Device> {
    return this.#store.exclusively(DEVICE, async () => {
      const known = await this.find();
      const devices = await this.#listRegistered(known !== null);
      if (devices === null && known !== null) return known;
      const registered = devices?.find((each) => each.device_id === known?.deviceId);
      const device = known !== null && registered !== undefined ? known : await this.#register(name);
      await this.#replenish(device, registered?.key_packages ?? 0, registered?.has_last_resort ?? false);
      return device;
    });
  }

  /** The server forgets the device, and the device everything. */
  async remove(): Promise<void> {
    const device = await this.find();
    if (device !== null) await this.#server.removeDevice(device.deviceId);
    await this.#store.destroy();
  }

  /** Null where this device is known already and the server cannot be reached. */
  async #listRegistered(isKnown: boolean) {
    try {
      return (await this.#server.listDevices()).devices;
    } catch (error) {
      if (isKnown && codeOf(error) === "offline") return null;
      throw error;
    }
  }

  async #register(name: string): Promise<Device> {
    const keys = await (await getSuite()).signature.keygen();
    const registered = await this.#server.registerDevice(name, toBase64Url(keys.publicKey));
    const device: Device = {
      accountId: registered.account_id,
      deviceId: registered.device_id,
      name,
      signKey: keys.signKey,
      publicKey: keys.publicKey,
    };
    // States of groups belong to the keys of the device before; what it has read stays.
    const old = [
      ...(await this.#store.list<{ key: string }>("group:")),
      ...(await this.#store.list<{ key: string }>("package:")),
    ];
    await this.#store.write({ ...Object.fromEntries(old.map(({ key }) => [key, null])), [DEVICE]: device });
    return device;
  }

  async #replenish(device: Device, waiting: number, hasLastResort: boolean): Promise<void> {
    if (waiting >= FEW && hasLastResort) return;
    const made: [Writes, string][] = [];
    for (let left = waiting >= FEW ? 0 : WANTED - waiting; left > 0; left -= 1)
      made.push(await this.#make(device, false));
    const last = hasLastResort ? null : await this.#make(device, true);
    const writes = Object.assign({}, ...made.map(([write]) => write), last?.[0]) as Writes;
    await this.#store.write(writes); // The private halves first: a package that others hold must be usable.
    const contents = made.map(([, content]) => content);
    await this.#server.uploadKeyPackages(device.deviceId, contents, last?.[1] ?? null);
  }

  async #make(device: Device, isLastResort: boolean): Promise<[Writes, string]> {
    const suite = await getSuite();
    const credential = credentialOf(device.accountId, device.deviceId);
    const keys = { signKey: device.signKey, publicKey: device.publicKey };
    const made = await generateKeyPackageWithKey(
      credential,
      capabilities(),
      lifetime(Date.now()),
      [],
      keys,
      suite,
    );
    const key = packageKey(await makeKeyPackageRef(made.publicPackage, suite.hash));
    const message = {
      version: "mls10",
      wireformat: "mls_key_package",
      keyPackage: made.publicPackage,
    } as const;
    return [{ [key]: { key, ...made, isLastResort } }, toBase64Url(writeMessage(message))];
  }
}
