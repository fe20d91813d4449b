/** Sessions, authenticator app, recovery codes, passkeys and API tokens. */
import { send } from "./http";
import { createPasskey } from "./passkeys";
import type { Schemas } from "./types";

export type LoginSession = Schemas["SessionView"];
export type Passkey = Schemas["PasskeyView"];
export type Totp = Schemas["TotpView"];
export type ApiToken = Schemas["TokenView"];

const id = encodeURIComponent;

export const listSessions = async (): Promise<readonly LoginSession[]> =>
  (await send<Schemas["SessionsView"]>("GET", "/sessions")).sessions;
export const endSession = (sessionId: string) => send<null>("DELETE", `/sessions/${id(sessionId)}`);
export const endOtherSessions = (keepsTokens: boolean) =>
  send<null>("DELETE", "/sessions", { query: { keeps_tokens: String(keepsTokens) } });

export const startTotpSetup = () => send<Totp>("POST", "/security/totp");
export const confirmTotp = async (code: string): Promise<readonly string[]> =>
  (await send<Schemas["RecoveryCodesView"]>("POST", "/security/totp/confirm", { json: { code } }))
    .recovery_codes;
export const removeTotp = () => send<null>("DELETE", "/security/totp");
export const regenerateRecoveryCodes = async (): Promise<readonly string[]> =>
  (await send<Schemas["RecoveryCodesView"]>("POST", "/security/recovery-codes")).recovery_codes;

export const listPasskeys = async (): Promise<readonly Passkey[]> =>
  (await send<Schemas["PasskeysView"]>("GET", "/security/passkeys")).passkeys;
export const getPasskeyOptions = async (): Promise<Record<string, unknown>> =>
  (await send<Schemas["PasskeyOptionsView"]>("POST", "/security/passkeys/options")).public_key;
export const addPasskey = async (options: Record<string, unknown>, name: string) =>
  send<Passkey>("POST", "/security/passkeys", { json: { passkey: await createPasskey(options), name } });
export const removePasskey = (passkeyId: string) =>
  send<null>("DELETE", `/security/passkeys/${id(passkeyId)}`);

export const listTokens = () => send<Schemas["TokensView"]>("GET", "/tokens");
export const createToken = (name: string, scopes: readonly string[], days: number) =>
  send<Schemas["NewTokenView"]>("POST", "/tokens", { json: { name, scopes, days } });
export const revokeToken = (tokenId: string) => send<null>("DELETE", `/tokens/${id(tokenId)}`);
