/** The server's side of encrypted conversations: what a device asks of it. It sees names, order and sizes, and no keys. */
import type { Schemas } from "../../../client/types";

export type Group = Schemas["GroupView"];
export type Leaf = Schemas["LeafView"];
export type Commit = Schemas["CommitView"];
export type ServerMessage = Schemas["MessageView"];
export type Sent = Schemas["SentView"];
export type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface CallOptions {
  readonly json?: unknown;
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
}

/** How requests are made: `call` rejects with an error that has the server's `code`. */
export interface Transport {
  call<T>(method: Method, path: string, options?: CallOptions): Promise<T>;
  upload(path: string, bytes: Uint8Array): Promise<{ attachment_id: string }>;
  download(path: string): Promise<Uint8Array>;
}

/** The stable code of a refusal; empty for anything else. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

const OWN = "/direct/encryption";
const id = encodeURIComponent;
const of = (threadId: string) => `/direct/threads/${id(threadId)}/encryption`;

export interface NewCommit {
  readonly device_id: string;
  readonly group_number: number;
  readonly epoch: number;
  readonly commit: string;
  readonly welcome: string | null;
  readonly add_members: readonly string[];
  readonly remove_members: readonly string[];
}

export interface NewEncryptedMessage {
  readonly device_id: string;
  readonly local_id: string;
  readonly counter: number;
  readonly group_number: number;
  readonly epoch: number;
  readonly ciphertext: string;
  readonly attachment_id: string | null;
  readonly is_change: boolean;
}

export class EncryptionServer {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  registerDevice(name: string, signatureKey: string): Promise<Schemas["DeviceRefView"]> {
    return this.#transport.call("POST", `${OWN}/devices`, { json: { name, signature_key: signatureKey } });
  }

  listDevices(): Promise<Schemas["EncryptionDevicesView"]> {
    return this.#transport.call("GET", `${OWN}/devices`);
  }

  removeDevice(deviceId: string): Promise<void> {
    return this.#transport.call("DELETE", `${OWN}/devices/${id(deviceId)}`);
  }

  uploadKeyPackages(
    deviceId: string,
    packages: readonly string[],
    lastResort: string | null,
  ): Promise<unknown> {
    const json = { key_packages: packages, last_resort: lastResort };
    return this.#transport.call("POST", `${OWN}/devices/${id(deviceId)}/key-packages`, { json });
  }

  async claimKeyPackages(
    accountIds: readonly string[],
    deviceIds: readonly string[] | null,
    threadId: string,
  ): Promise<readonly Schemas["KeyPackageView"][]> {
    const json = { account_ids: accountIds, device_ids: deviceIds, thread_id: threadId };
    const found = await this.#transport.call<Schemas["KeyPackagesView"]>(
      "POST",
      `${OWN}/key-packages/claims`,
      { json },
    );
    return found.key_packages;
  }

  async openThread(
    accountIds: readonly string[],
    deviceId: string,
    group: { readonly name: string; readonly local_id: string } | null,
  ): Promise<string> {
    const json = { account_ids: accountIds, device_id: deviceId, ...group };
    return (await this.#transport.call<Schemas["ThreadRefView"]>("POST", "/direct/threads", { json }))
      .thread_id;
  }

  getThread(threadId: string, deviceId: string): Promise<Schemas["ThreadView"]> {
    return this.#transport.call("GET", `/direct/threads/${id(threadId)}`, { query: { device_id: deviceId } });
  }

  getGroup(threadId: string): Promise<Group> {
    return this.#transport.call("GET", of(threadId));
  }

  async beginGroup(threadId: string, deviceId: string, groupNumber: number): Promise<number> {
    const json = { device_id: deviceId, group_number: groupNumber };
    const begun = await this.#transport.call<Schemas["GroupRefView"]>("POST", `${of(threadId)}/group`, {
      json,
    });
    return begun.group_number;
  }

  commit(threadId: string, json: NewCommit): Promise<Schemas["CommittedView"]> {
    return this.#transport.call("POST", `${of(threadId)}/commits`, { json });
  }

  async listCommits(threadId: string, deviceId: string, since: number): Promise<readonly Commit[]> {
    const query = { device_id: deviceId, since, limit: 50 };
    return (await this.#transport.call<Schemas["CommitsView"]>("GET", `${of(threadId)}/commits`, { query }))
      .commits;
  }

  async getWelcome(threadId: string, deviceId: string): Promise<string> {
    const query = { device_id: deviceId };
    return (await this.#transport.call<Schemas["WelcomeView"]>("GET", `${of(threadId)}/welcome`, { query }))
      .welcome;
  }

  leave(threadId: string, json: object): Promise<void> {
    return this.#transport.call("POST", `${of(threadId)}/departure`, { json });
  }

  sendMessage(threadId: string, json: NewEncryptedMessage): Promise<Sent> {
    return this.#transport.call("POST", `${of(threadId)}/messages`, { json });
  }

  pageMessages(threadId: string, cursor: string | null): Promise<Schemas["MessagesView"]> {
    return this.#transport.call("GET", `/direct/threads/${id(threadId)}/messages`, {
      query: { cursor, limit: 50 },
    });
  }

  async uploadAttachment(bytes: Uint8Array): Promise<string> {
    return (await this.#transport.upload(`${OWN}/attachments`, bytes)).attachment_id;
  }

  downloadAttachment(threadId: string, messageId: string): Promise<Uint8Array> {
    return this.#transport.download(`${of(threadId)}/messages/${id(messageId)}/attachment`);
  }

  getBackup(): Promise<Schemas["BackupView"]> {
    return this.#transport.call("GET", `${OWN}/backup`);
  }

  async beginBackup(header: string, expectedVersion: number): Promise<number> {
    const json = { header, expected_version: expectedVersion };
    return (await this.#transport.call<Schemas["BackupVersionView"]>("PUT", `${OWN}/backup`, { json }))
      .version;
  }

  rewrapBackup(header: string, version: number): Promise<void> {
    return this.#transport.call("PUT", `${OWN}/backup/header`, { json: { header, version } });
  }

  deleteBackup(): Promise<void> {
    return this.#transport.call("DELETE", `${OWN}/backup`);
  }

  async listBackupParts(after: string): Promise<readonly Schemas["BackupPartView"][]> {
    const query = { after: after === "" ? null : after };
    return (await this.#transport.call<Schemas["BackupPartsView"]>("GET", `${OWN}/backup/parts`, { query }))
      .parts;
  }

  getBackupPart(name: string): Promise<Schemas["BackupPartView"]> {
    return this.#transport.call("GET", `${OWN}/backup/parts/${id(name)}`);
  }

  async putBackupPart(
    name: string,
    backupVersion: number,
    expected: number,
    content: string,
  ): Promise<number> {
    const json = { backup_version: backupVersion, expected_version: expected, content };
    const put = await this.#transport.call<Schemas["BackupVersionView"]>(
      "PUT",
      `${OWN}/backup/parts/${id(name)}`,
      { json },
    );
    return put.version;
  }
}
