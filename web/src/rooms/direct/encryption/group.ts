/** One MLS group as a value: each step returns the next state, and what it has made or read. */
import {
  type ClientState,
  createApplicationMessage,
  createCommit,
  createGroup,
  createProposal,
  emptyPskIndex,
  generateKeyPackageWithKey,
  joinGroup,
  type Proposal,
  processPublicMessage,
  type Welcome,
  zeroOutUint8Array,
} from "ts-mls";
import { unprotectPrivateMessage } from "ts-mls/messageProtection.js";
import { decodeText, encodeText } from "./bytes";
import type { Device, OwnKeyPackage } from "./device";
import { EncryptionError } from "./errors";
import { CONFIG, capabilities, credentialOf, getSuite, lifetime, readMessage, writeMessage } from "./suite";

/** A device in the tree: what its credential says, and the key that its signatures are checked with. */
export interface TreeLeaf {
  readonly leafIndex: number;
  readonly accountId: string;
  readonly deviceId: string;
  readonly signatureKey: Uint8Array;
}

export const groupIdOf = (threadId: string, groupNumber: number) => encodeText(`${threadId}.${groupNumber}`);

export async function beginGroup(groupId: Uint8Array, device: Device): Promise<ClientState> {
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
  return createGroup(groupId, made.publicPackage, made.privatePackage, [], suite, CONFIG);
}

/** The id of the group that a message was encrypted for. */
export function groupOf(bytes: Uint8Array): Uint8Array {
  const message = readMessage(bytes);
  if (message.wireformat !== "mls_private_message") throw new EncryptionError("malformed");
  return message.privateMessage.groupId;
}

/** The references of the key packages that a welcome is for. */
export function readWelcome(bytes: Uint8Array): Welcome {
  const message = readMessage(bytes);
  if (message.wireformat !== "mls_welcome") throw new EncryptionError("malformed");
  return message.welcome;
}

export async function join(welcome: Welcome, own: OwnKeyPackage): Promise<ClientState> {
  const suite = await getSuite();
  return joinGroup(
    welcome,
    own.publicPackage,
    own.privatePackage,
    emptyPskIndex,
    suite,
    undefined,
    undefined,
    CONFIG,
  );
}

export interface MadeCommit {
  readonly state: ClientState;
  readonly commit: Uint8Array;
  readonly welcome: Uint8Array | null;
}

/** A commit that takes up these proposals of others, removes these leaves, and adds these key packages. */
export async function makeCommit(
  state: ClientState,
  proposals: readonly Uint8Array[],
  removed: readonly number[],
  added: readonly Uint8Array[],
): Promise<MadeCommit> {
  const suite = await getSuite();
  let current = state;
  for (const each of proposals) current = await applyHandshake(current, each);
  const extraProposals: Proposal[] = [
    ...removed.map((index): Proposal => ({ proposalType: "remove", remove: { removed: index } })),
    ...added.map(readAdd),
  ];
  const options = { wireAsPublicMessage: true, extraProposals, ratchetTreeExtension: true };
  const made = await createCommit({ state: current, cipherSuite: suite }, options);
  // What was consumed is not wiped: until the server has taken the commit, the state before it is still in use.
  const welcome = made.welcome;
  return {
    state: made.newState,
    commit: writeMessage(made.commit),
    welcome:
      welcome === undefined ? null : writeMessage({ version: "mls10", wireformat: "mls_welcome", welcome }),
  };
}

function readAdd(bytes: Uint8Array): Proposal {
  const message = readMessage(bytes);
  if (message.wireformat !== "mls_key_package") throw new EncryptionError("malformed");
  return { proposalType: "add", add: { keyPackage: message.keyPackage } };
}

/** The state after a commit or proposal of somebody else. */
export async function applyHandshake(state: ClientState, bytes: Uint8Array): Promise<ClientState> {
  const message = readMessage(bytes);
  if (message.wireformat !== "mls_public_message") throw new EncryptionError("malformed");
  return (await processPublicMessage(state, message.publicMessage, emptyPskIndex, await getSuite())).newState;
}

export async function proposeRemoval(state: ClientState, leafIndex: number): Promise<Uint8Array> {
  const proposal: Proposal = { proposalType: "remove", remove: { removed: leafIndex } };
  return writeMessage((await createProposal(state, true, proposal, await getSuite())).message);
}

/** The leaf that a proposal asks to remove. */
export function readRemoval(bytes: Uint8Array): number {
  const message = readMessage(bytes);
  if (message.wireformat !== "mls_public_message") throw new EncryptionError("malformed");
  const { content } = message.publicMessage;
  if (content.contentType !== "proposal" || content.proposal.proposalType !== "remove")
    throw new EncryptionError("malformed");
  return content.proposal.remove.removed;
}

export async function encrypt(state: ClientState, plain: Uint8Array): Promise<[ClientState, Uint8Array]> {
  const made = await createApplicationMessage(state, plain, await getSuite());
  made.consumed.forEach(zeroOutUint8Array);
  const message = {
    version: "mls10",
    wireformat: "mls_private_message",
    privateMessage: made.privateMessage,
  } as const;
  return [made.newState, writeMessage(message)];
}

export interface Decrypted {
  readonly state: ClientState;
  readonly plain: Uint8Array;
  readonly sender: TreeLeaf;
}

/**
 * A message of the current epoch, and which leaf has signed it. Lower than the library's `processMessage`, which does not say
 * who: then the server's word for the author would have to do.
 */
export async function decrypt(state: ClientState, bytes: Uint8Array): Promise<Decrypted> {
  const message = readMessage(bytes);
  if (message.wireformat !== "mls_private_message") throw new EncryptionError("malformed");
  const read = await unprotectPrivateMessage(
    state.keySchedule.senderDataSecret,
    message.privateMessage,
    state.secretTree,
    state.ratchetTree,
    state.groupContext,
    CONFIG.keyRetentionConfig,
    await getSuite(),
  );
  const { content } = read.content;
  if (content.contentType !== "application" || content.sender.senderType !== "member")
    throw new EncryptionError("malformed");
  const leafIndex = content.sender.leafIndex;
  const sender = leavesOf(state).find((each) => each.leafIndex === leafIndex);
  if (sender === undefined) throw new EncryptionError("malformed");
  return { state: { ...state, secretTree: read.tree }, plain: content.applicationData, sender };
}

export function leavesOf(state: ClientState): TreeLeaf[] {
  return state.ratchetTree.flatMap((node, index) => {
    if (node?.nodeType !== "leaf" || node.leaf.credential.credentialType !== "basic") return [];
    const [accountId = "", deviceId = ""] = decodeText(node.leaf.credential.identity).split(".");
    return [{ leafIndex: index / 2, accountId, deviceId, signatureKey: node.leaf.signaturePublicKey }];
  });
}
