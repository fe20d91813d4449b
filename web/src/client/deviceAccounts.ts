/** The accounts that are signed in in this browser. */
import { send } from "./http";
import type { Schemas } from "./types";

export type DeviceAccount = Schemas["DeviceAccountView"];

const path = (accountId: string) => `/sessions/device/${encodeURIComponent(accountId)}`;

export const deviceAccounts = {
  list: async (): Promise<readonly DeviceAccount[]> =>
    (await send<Schemas["DeviceAccountsView"]>("GET", "/sessions/device")).accounts,
  /** Keeps the present account signed in while another one signs in. */
  setAside: () => send<null>("POST", "/sessions/device"),
  switchTo: (accountId: string) => send<null>("PUT", path(accountId)),
  remove: (accountId: string) => send<null>("DELETE", path(accountId)),
} as const;
