/** End-to-end encryption (MLS), loaded when a conversation needs it. */
export { Backup } from "./backup";
export { EncryptionClient } from "./client";
export type { Content, SealedFile } from "./content";
export type { Device } from "./device";
export { EncryptionError, type EncryptionErrorCode } from "./errors";
export type { ReadMessage, ShownMessage, Unreadable } from "./history";
export { IndexedDbKeyStore, InMemoryKeyStore, type KeyStore } from "./keyStore";
export { Outbox, type OutgoingMessage } from "./outbox";
export { safetyNumber } from "./safetyNumber";
export { codeOf, type Transport } from "./server";
