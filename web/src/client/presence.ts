/** Whether the viewer shows when they are active. */
import { send } from "./http";
import type { Schemas } from "./types";

export const presenceSettings = {
  get: async () => (await send<Schemas["PresenceSettingsView"]>("GET", "/presence/settings")).is_shown,
  choose: (is_shown: boolean) => send<null>("PUT", "/presence/settings", { json: { is_shown } }),
} as const;
