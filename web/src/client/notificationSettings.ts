/** Which notifications are sent, when, and to which browsers they are pushed. */
import { send } from "./http";
import type { Schemas } from "./types";

export type NotificationSettings = Schemas["NotificationSettingsView"];
export type KindSetting = Schemas["NotificationPreferenceView"];
export type QuietHours = Schemas["QuietHoursView"];
export type SubscribedBrowser = Schemas["SubscriptionView"];

export const getNotificationSettings = () => send<NotificationSettings>("GET", "/notifications/settings");
export const updateKindSetting = ({ kind, audience, is_pushed }: KindSetting) =>
  send<null>("PUT", `/notifications/settings/kinds/${kind}`, { json: { audience, is_pushed } });
export const setQuietHours = (hours: QuietHours) =>
  send<null>("PUT", "/notifications/settings/quiet-hours", { json: hours });
export const clearQuietHours = () => send<null>("DELETE", "/notifications/settings/quiet-hours");

export const getPushKey = async (): Promise<string> =>
  (await send<Schemas["PushKeyView"]>("GET", "/push/key")).public_key;
export const listSubscriptions = async (): Promise<readonly SubscribedBrowser[]> =>
  (await send<Schemas["SubscriptionsView"]>("GET", "/push/subscriptions")).subscriptions;
export const addSubscription = (subscription: Schemas["NewSubscription"]) =>
  send<SubscribedBrowser>("POST", "/push/subscriptions", { json: subscription });
export const removeSubscription = (subscriptionId: string) =>
  send<null>("DELETE", `/push/subscriptions/${encodeURIComponent(subscriptionId)}`);
