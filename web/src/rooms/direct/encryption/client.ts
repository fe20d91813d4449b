/** Encrypted conversations of one account on this device. Nothing here knows of the screen. */
import { Backup } from "./backup";
import type { Content } from "./content";
import { type Device, Devices } from "./device";
import { EncryptionError } from "./errors";
import { History, type ShownMessage } from "./history";
import type { KeyStore } from "./keyStore";
import { decryptFile, encryptFile, type FileInfo } from "./media";
import { safetyNumber } from "./safetyNumber";
import { EncryptionServer, type Sent, type Transport } from "./server";
import { EncryptedThreads } from "./threads";

export class EncryptionClient {
  readonly #server: EncryptionServer;
  readonly device: Device;
  readonly devices: Devices;
  readonly threads: EncryptedThreads;
  readonly history: History;
  readonly backup: Backup;

  private constructor(store: KeyStore, server: EncryptionServer, device: Device) {
    this.#server = server;
    this.device = device;
    this.devices = new Devices(store, server);
    this.threads = new EncryptedThreads(store, server, device);
    this.history = new History(store);
    this.backup = new Backup(store, server, this.history);
  }

  /** This device, registered and with enough key packages. */
  static async open(store: KeyStore, transport: Transport, name: string): Promise<EncryptionClient> {
    const server = new EncryptionServer(transport);
    const device = await new Devices(store, server).setUp(name);
    return new EncryptionClient(store, server, device);
  }

  /** Reads everything new in a conversation, and backs it up if there is a backup. */
  async read(threadId: string): Promise<ShownMessage[]> {
    await this.threads.refresh(threadId);
    await this.history.expire(threadId);
    await this.backup.write(threadId);
    return this.history.show(threadId);
  }

  send(threadId: string, content: Content, localId: string = crypto.randomUUID()): Promise<Sent> {
    return this.threads.send(threadId, content, localId);
  }

  /** Encrypts a file, uploads it, and sends the message that carries its key. */
  async sendFile(
    threadId: string,
    plain: Uint8Array,
    info: FileInfo,
    text = "",
    localId: string = crypto.randomUUID(),
  ): Promise<Sent> {
    const [sealed, file] = await encryptFile(plain, info);
    const attachmentId = await this.#server.uploadAttachment(sealed);
    return this.threads.send(threadId, { type: "file", file, text }, localId, attachmentId);
  }

  /** The file of a message that was read. */
  async openFile(threadId: string, messageId: string): Promise<Blob> {
    const message = await this.history.find(threadId, messageId);
    if (message?.content?.type !== "file") throw new EncryptionError("key_missing");
    const { file } = message.content;
    const sealed = await this.#server.downloadAttachment(threadId, messageId);
    return new Blob([await decryptFile(sealed, file)], { type: file.type });
  }

  /** Forgets a message that was unsent, also in the backup. */
  async forget(threadId: string, messageId: string): Promise<void> {
    await this.history.remove(threadId, [messageId]);
    await this.backup.write(threadId, [messageId]);
  }

  /** The digits to compare with somebody, by the devices that can read the conversation. */
  async safetyNumber(threadId: string, otherId: string): Promise<string> {
    return safetyNumber(await this.threads.leaves(threadId), this.device.accountId, otherId);
  }
}
