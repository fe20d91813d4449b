/** What one is told, when, and on which browsers. */
import { send } from "./http";
import type { Schemas } from "./types";

export type Told = Schemas["SettingsView"];
export type Choice = Schemas["ChoiceView"];
export type Quiet = Schemas["QuietView"];
export type ToldBrowser = Schemas["SubscriptionView"];

export const getTold = () => send<Told>("GET", "/notifications/settings");
export const choose = ({ kind, audience, is_pushed }: Choice) =>
  send<null>("PUT", `/notifications/settings/kinds/${kind}`, { json: { audience, is_pushed } });
export const setQuiet = (quiet: Quiet) =>
  send<null>("PUT", "/notifications/settings/quiet-hours", { json: quiet });
export const endQuiet = () => send<null>("DELETE", "/notifications/settings/quiet-hours");

export const getPushKey = async (): Promise<string> =>
  (await send<Schemas["PushKeyView"]>("GET", "/push/key")).public_key;
export const listBrowsers = async (): Promise<readonly ToldBrowser[]> =>
  (await send<Schemas["SubscriptionsView"]>("GET", "/push/subscriptions")).subscriptions;
export const addBrowser = (subscription: Schemas["NewSubscription"]) =>
  send<ToldBrowser>("POST", "/push/subscriptions", { json: subscription });
export const dropBrowser = (subscriptionId: string) =>
  send<null>("DELETE", `/push/subscriptions/${encodeURIComponent(subscriptionId)}`);
