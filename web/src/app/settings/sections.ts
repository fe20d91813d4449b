/** The sections of the settings; each loads when it is opened. */
import type { Component } from "svelte";
import { language, type MessageKey } from "../../base/i18n";

type Label = Extract<
  MessageKey,
  `settings.${"profile" | "account" | "privacy" | "security" | "encryption" | "notifications" | "invitations" | "programs" | "import" | "data"}`
>;

export interface Section {
  readonly name: string;
  readonly label: Label;
  readonly load: () => Promise<{ default: Component }>;
}

export const sections: readonly Section[] = [
  { name: "profile", label: "settings.profile", load: () => import("./ProfileSection.svelte") },
  { name: "account", label: "settings.account", load: () => import("./AccountSection.svelte") },
  { name: "privacy", label: "settings.privacy", load: () => import("./PrivacySection.svelte") },
  { name: "security", label: "settings.security", load: () => import("./SecuritySection.svelte") },
  {
    name: "encryption",
    label: "settings.encryption",
    load: async () => {
      await language.loadNamespaces("direct");
      return import("../../rooms/direct/devices");
    },
  },
  {
    name: "notifications",
    label: "settings.notifications",
    load: () => import("./NotificationsSection.svelte"),
  },
  { name: "invitations", label: "settings.invitations", load: () => import("./InvitationsSection.svelte") },
  { name: "programs", label: "settings.programs", load: () => import("./ApiTokensSection.svelte") },
  { name: "import", label: "settings.import", load: () => import("./ImportSection.svelte") },
  { name: "data", label: "settings.data", load: () => import("./DataSection.svelte") },
];
