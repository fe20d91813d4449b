/** Signing in beyond a password: second factors, passkeys, reauthentication, password resets, email confirmation. */
import { send } from "./http";
import { getPasskeyAssertion } from "./passkeys";
import type { Account, Schemas } from "./types";

const createSession = async (path: string, json: object): Promise<Account> =>
  (await send<Schemas["SignedInView"]>("POST", `/sessions/${path}`, { json })).account;

const getPasskeyOptions = async (path: string, json?: object) =>
  (await send<Schemas["PasskeyOptionsView"]>("POST", path, json ? { json } : {})).public_key;

export const logInWithCode = (ticket: string, code: string) =>
  createSession("second-factor", { ticket, code });

export async function logInWithSecondFactorPasskey(ticket: string): Promise<Account> {
  const passkey = await getPasskeyAssertion(
    await getPasskeyOptions("/sessions/second-factor/passkey-options", { ticket }),
  );
  return createSession("second-factor", { ticket, passkey });
}

export async function logInWithPasskey(): Promise<Account> {
  return createSession("passkey", {
    passkey: await getPasskeyAssertion(await getPasskeyOptions("/sessions/passkey-options")),
  });
}

/** Rejects with `proof_needed` or `factor_needed` where a sensitive request would. */
export const checkProof = () => send<null>("GET", "/sessions/current/proof");

export const reauthenticate = (proof: { password?: string; code?: string; passkey?: object }) =>
  send<null>("POST", "/sessions/current/proof", { json: proof });

export async function reauthenticateWithPasskey(): Promise<null> {
  return reauthenticate({
    passkey: await getPasskeyAssertion(await getPasskeyOptions("/sessions/current/proof/passkey-options")),
  });
}

export const isUsernameFree = async (username: string, signal: AbortSignal): Promise<boolean> =>
  (await send<Schemas["AvailabilityView"]>("GET", "/usernames/available", { query: { username }, signal }))
    .is_available;

export const requestPasswordReset = (username: string) =>
  send<null>("POST", "/password-resets", { json: { username } });

export const resetPassword = (token: string, newPassword: string) =>
  send<null>("POST", "/password-resets/use", { json: { token, new_password: newPassword } });

export const confirmEmail = (token: string) =>
  send<null>("POST", "/email-confirmations", { json: { token } });
