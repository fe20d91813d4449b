/** The viewer's own account: profile, contact details, password, data exports, deactivation and deletion. */
import { send } from "./http";
import type { Account, Schemas } from "./types";

export type PrivateDetails = Schemas["PrivateDetails"];
export type Export = Schemas["ExportView"];

const ME = "/accounts/me";

export const changeProfile = (change: Schemas["ProfileChange"]) =>
  send<Account>("PATCH", ME, { json: change });
export const setAvatar = (mediaId: string) =>
  send<Account>("PUT", `${ME}/avatar`, { json: { media_id: mediaId } });
export const removeAvatar = () => send<null>("DELETE", `${ME}/avatar`);

export const getPrivateDetails = () => send<PrivateDetails>("GET", `${ME}/private`);
export const changeUsername = (username: string) =>
  send<Account>("PUT", `${ME}/username`, { json: { username } });
export const requestEmailChange = (email: string) => send<null>("PUT", `${ME}/email`, { json: { email } });
export const removeEmail = () => send<null>("DELETE", `${ME}/email`);
export const setPhone = (phone: string) => send<null>("PUT", `${ME}/phone`, { json: { phone } });
export const removePhone = () => send<null>("DELETE", `${ME}/phone`);
export const changePassword = (current: string, next: string, keepsTokens: boolean) =>
  send<null>("PUT", `${ME}/password`, {
    json: { current_password: current, new_password: next, keeps_tokens: keepsTokens },
  });

export const requestExport = () => send<Export>("POST", `${ME}/exports`);
export const listExports = async (): Promise<readonly Export[]> =>
  (await send<Schemas["ExportsView"]>("GET", `${ME}/exports`)).exports;

/** What the viewer stores, and how much they may. */
export const getStorage = () => send<Schemas["StorageView"]>("GET", `${ME}/storage`);

export const deactivate = () => send<null>("POST", `${ME}/deactivation`);
/** Schedules the deletion; resolves to when it is due. */
export const deleteAccount = async (password: string): Promise<string> =>
  (await send<Schemas["AccountDeletionView"]>("POST", `${ME}/deletion`, { json: { password } })).due_at;
