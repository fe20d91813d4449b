/** The items of the main navigation: one list for the rail, the bottom bar and the shortcuts. */
import type { Component } from "svelte";
import type { MessageKey } from "../base/i18n";
import { paths } from "../base/router";
import type { Account } from "../client";
import Bell from "../ui/icons/Bell.svelte";
import Create from "../ui/icons/Create.svelte";
import Envelope from "../ui/icons/Envelope.svelte";
import Explore from "../ui/icons/Explore.svelte";
import Home from "../ui/icons/Home.svelte";
import Person from "../ui/icons/Person.svelte";
import Search from "../ui/icons/Search.svelte";
import Shield from "../ui/icons/Shield.svelte";
import Sliders from "../ui/icons/Sliders.svelte";

export interface NavItem {
  readonly href: string;
  readonly label: Exclude<Extract<MessageKey, `nav.${string}`>, "nav.unread">;
  readonly icon: Component<{ size?: number; isFilled?: boolean }>;
  /** The shortcut, in the form that `shortcuts` takes. */
  readonly key: string;
  /** The bottom bar has room for five; the others are linked from their pages. */
  readonly isOnBar?: boolean;
  /** Its URL is not known yet, so it cannot be the current page. */
  readonly isPending?: boolean;
  /** Which of the unread counts it shows. */
  readonly badge?: "count" | "messages";
}

/** The list is the same while the account is still loading, so that nothing shifts; only the profile link is pending. */
export function navItems(account: Account | null, isModerator: boolean): NavItem[] {
  const own = account === null ? paths.home() : paths.profile(account.username);
  return [
    { href: paths.home(), label: "nav.home", icon: Home, key: "g h", isOnBar: true },
    { href: paths.search(), label: "nav.search", icon: Search, key: "g s", isOnBar: true },
    { href: paths.explore(), label: "nav.explore", icon: Explore, key: "g e" },
    { href: paths.create(), label: "nav.create", icon: Create, key: "n", isOnBar: true },
    { href: paths.messages(), label: "nav.messages", icon: Envelope, key: "g d", badge: "messages" },
    { href: paths.activity(), label: "nav.activity", icon: Bell, key: "g a", isOnBar: true, badge: "count" },
    {
      href: own,
      label: "nav.profile",
      icon: Person,
      key: "g p",
      isOnBar: true,
      isPending: account === null,
    },
    { href: paths.settings(), label: "nav.settings", icon: Sliders, key: "g ," },
    ...(isModerator
      ? [{ href: paths.moderation(), label: "nav.moderation", icon: Shield, key: "g m" } as const]
      : []),
  ];
}
