/** The other ways in: second factors, passkeys, lost passwords, confirmed addresses. */
import { send } from "./http";
import { askPasskey } from "./passkeys";
import type { Account, Schemas } from "./types";

const enter = async (path: string, json: object): Promise<Account> =>
  (await send<Schemas["SignedInView"]>("POST", `/sessions/${path}`, { json })).account;

const ask = async (path: string, json?: object) =>
  (await send<Schemas["PasskeyQuestion"]>("POST", path, json ? { json } : {})).public_key;

export const enterWithCode = (ticket: string, code: string) => enter("second-factor", { ticket, code });

export async function enterWithSecondPasskey(ticket: string): Promise<Account> {
  const passkey = await askPasskey(await ask("/sessions/second-factor/passkey-options", { ticket }));
  return enter("second-factor", { ticket, passkey });
}

export async function enterWithPasskey(): Promise<Account> {
  return enter("passkey", { passkey: await askPasskey(await ask("/sessions/passkey-options")) });
}

export const prove = (proof: { password?: string; code?: string; passkey?: object }) =>
  send<null>("POST", "/sessions/current/proof", { json: proof });

export async function proveWithPasskey(): Promise<null> {
  return prove({ passkey: await askPasskey(await ask("/sessions/current/proof/passkey-options")) });
}

export const isUsernameFree = async (username: string, signal: AbortSignal): Promise<boolean> =>
  (await send<Schemas["AvailabilityView"]>("GET", "/usernames/available", { query: { username }, signal }))
    .is_available;

export const askForReset = (username: string) =>
  send<null>("POST", "/password-resets", { json: { username } });

export const resetPassword = (token: string, newPassword: string) =>
  send<null>("POST", "/password-resets/use", { json: { token, new_password: newPassword } });

export const confirmEmail = (token: string) =>
  send<null>("POST", "/email-confirmations", { json: { token } });
