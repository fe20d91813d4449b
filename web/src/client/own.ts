/** One's own account: what it says, how one is reached, taking things along, leaving. */
import { send } from "./http";
import type { Account, Schemas } from "./types";

export type PrivateDetails = Schemas["PrivateDetails"];
export type Export = Schemas["ExportView"];

const ME = "/accounts/me";

export const changeProfile = (change: Schemas["ProfileChange"]) =>
  send<Account>("PATCH", ME, { json: change });
export const setAvatar = (mediaId: string) =>
  send<Account>("PUT", `${ME}/avatar`, { json: { media_id: mediaId } });
export const dropAvatar = () => send<null>("DELETE", `${ME}/avatar`);

export const getPrivate = () => send<PrivateDetails>("GET", `${ME}/private`);
export const rename = (username: string) => send<Account>("PUT", `${ME}/username`, { json: { username } });
export const askEmail = (email: string) => send<null>("PUT", `${ME}/email`, { json: { email } });
export const dropEmail = () => send<null>("DELETE", `${ME}/email`);
export const setPhone = (phone: string) => send<null>("PUT", `${ME}/phone`, { json: { phone } });
export const dropPhone = () => send<null>("DELETE", `${ME}/phone`);
export const changePassword = (current: string, next: string) =>
  send<null>("PUT", `${ME}/password`, { json: { current_password: current, new_password: next } });

export const askForExport = () => send<Export>("POST", `${ME}/exports`);
export const listExports = async (): Promise<readonly Export[]> =>
  (await send<Schemas["ExportsView"]>("GET", `${ME}/exports`)).exports;

export const deactivate = () => send<null>("POST", `${ME}/deactivation`);
export const leave = async (password: string): Promise<string> =>
  (await send<Schemas["LeavingView"]>("POST", `${ME}/deletion`, { json: { password } })).due_at;
