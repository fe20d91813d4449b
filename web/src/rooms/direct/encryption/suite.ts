/** MLS as this app uses it: one cipher suite, and how long keys are kept. */
import {
  type CiphersuiteImpl,
  type ClientConfig,
  type ClientState,
  type Credential,
  decodeGroupState,
  decodeMlsMessage,
  defaultAuthenticationService,
  defaultCapabilities,
  defaultKeyPackageEqualityConfig,
  defaultPaddingConfig,
  encodeGroupState,
  encodeMlsMessage,
  getCiphersuiteFromName,
  getCiphersuiteImpl,
  type Lifetime,
  type MLSMessage,
  nobleCryptoProvider,
} from "ts-mls";
import { encodeText } from "./bytes";
import { EncryptionError } from "./errors";

export const SUITE = "MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519";
const DAY_S = 86_400n;
export const LIFETIME_DAYS = 90n;

export const CONFIG: ClientConfig = {
  // Every message lies in one epoch and is read before the next begins; unsent and disappeared ones leave gaps.
  keyRetentionConfig: {
    retainKeysForEpochs: 0,
    retainKeysForGenerations: 10,
    maximumForwardRatchetSteps: 10_000,
  },
  lifetimeConfig: { maximumTotalLifetime: 120n * DAY_S, validateLifetimeOnReceive: false },
  keyPackageEqualityConfig: defaultKeyPackageEqualityConfig,
  paddingConfig: defaultPaddingConfig,
  authService: defaultAuthenticationService,
};

let suite: Promise<CiphersuiteImpl> | null = null;

export function getSuite(): Promise<CiphersuiteImpl> {
  suite ??= getCiphersuiteImpl(getCiphersuiteFromName(SUITE), nobleCryptoProvider);
  return suite;
}

/** What a device says it is; the server checks it, and others compare safety numbers. */
export function credentialOf(accountId: string, deviceId: string): Credential {
  return { credentialType: "basic", identity: encodeText(`${accountId}.${deviceId}`) };
}

export function capabilities() {
  return { ...defaultCapabilities(), ciphersuites: [SUITE as typeof SUITE] };
}

export function lifetime(now: number): Lifetime {
  const seconds = BigInt(Math.floor(now / 1000));
  return { notBefore: seconds - DAY_S, notAfter: seconds + LIFETIME_DAYS * DAY_S };
}

export function readMessage(bytes: Uint8Array): MLSMessage {
  const found = decodeMlsMessage(bytes, 0);
  if (found === undefined || found[1] !== bytes.length) throw new EncryptionError("malformed");
  return found[0];
}

export function writeMessage(message: MLSMessage): Uint8Array {
  return encodeMlsMessage(message);
}

export function readState(bytes: Uint8Array): ClientState {
  const found = decodeGroupState(bytes, 0);
  if (found === undefined) throw new EncryptionError("malformed");
  return { ...found[0], clientConfig: CONFIG };
}

export function writeState(state: ClientState): Uint8Array {
  return encodeGroupState(state);
}
