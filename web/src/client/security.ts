/** What one signs in with, where one is signed in, and what programs may do. */
import { send } from "./http";
import { makePasskey } from "./passkeys";
import type { Schemas } from "./types";

export type SignedInPlace = Schemas["SessionView"];
export type Passkey = Schemas["PasskeyView"];
export type Totp = Schemas["TotpView"];
export type ProgramToken = Schemas["tokens_TokenView"];

const id = encodeURIComponent;

export const listSessions = async (): Promise<readonly SignedInPlace[]> =>
  (await send<Schemas["SessionsView"]>("GET", "/sessions")).sessions;
export const endSession = (sessionId: string) => send<null>("DELETE", `/sessions/${id(sessionId)}`);
export const endOtherSessions = () => send<null>("DELETE", "/sessions");

export const beginTotp = () => send<Totp>("POST", "/security/totp");
export const confirmTotp = async (code: string): Promise<readonly string[]> =>
  (await send<Schemas["RecoveryCodesView"]>("POST", "/security/totp/confirm", { json: { code } }))
    .recovery_codes;
export const dropTotp = () => send<null>("DELETE", "/security/totp");
export const renewCodes = async (): Promise<readonly string[]> =>
  (await send<Schemas["RecoveryCodesView"]>("POST", "/security/recovery-codes")).recovery_codes;

export const listPasskeys = async (): Promise<readonly Passkey[]> =>
  (await send<Schemas["PasskeysView"]>("GET", "/security/passkeys")).passkeys;
export const askNewPasskey = async (): Promise<Record<string, unknown>> =>
  (await send<Schemas["PasskeyQuestion"]>("POST", "/security/passkeys/options")).public_key;
export const addPasskey = async (question: Record<string, unknown>, name: string) =>
  send<Passkey>("POST", "/security/passkeys", { json: { passkey: await makePasskey(question), name } });
export const dropPasskey = (passkeyId: string) => send<null>("DELETE", `/security/passkeys/${id(passkeyId)}`);

export const listTokens = () => send<Schemas["TokensView"]>("GET", "/tokens");
export const makeToken = (name: string, scopes: readonly string[], days: number) =>
  send<Schemas["MadeTokenView"]>("POST", "/tokens", { json: { name, scopes, days } });
export const endToken = (tokenId: string) => send<null>("DELETE", `/tokens/${id(tokenId)}`);
