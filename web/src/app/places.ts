/** The places the navigation leads to. One list for the rail, the bar and the keys: a place appears once it exists. */
import type { Component } from "svelte";
import type { MessageKey } from "../base/i18n";
import { paths } from "../base/router";
import type { Account } from "../client";
import Bell from "../ui/icons/Bell.svelte";
import Create from "../ui/icons/Create.svelte";
import Explore from "../ui/icons/Explore.svelte";
import Home from "../ui/icons/Home.svelte";
import Letter from "../ui/icons/Letter.svelte";
import Person from "../ui/icons/Person.svelte";
import Search from "../ui/icons/Search.svelte";
import Shield from "../ui/icons/Shield.svelte";
import Sliders from "../ui/icons/Sliders.svelte";

export interface Place {
  readonly href: string;
  readonly label: Exclude<Extract<MessageKey, `nav.${string}`>, "nav.unread">;
  readonly icon: Component<{ size?: number; isFilled?: boolean }>;
  /** The keys that lead there, as `shortcuts` takes them. */
  readonly key: string;
  /** Phones have room for five; the others are reached from within them. */
  readonly isOnBar?: boolean;
  /** Its address is not known yet, so it cannot be where we are. */
  readonly isPending?: boolean;
  /** Shows how many things wait there. */
  readonly hasBadge?: boolean;
}

/** The places stand still while it is not yet known who is here; only the way to one's own profile waits. */
export function placesFor(account: Account | null, isModerator: boolean): Place[] {
  const own = account === null ? paths.home() : paths.profile(account.username);
  return [
    { href: paths.home(), label: "nav.home", icon: Home, key: "g h", isOnBar: true },
    { href: paths.search(), label: "nav.search", icon: Search, key: "g s", isOnBar: true },
    { href: paths.explore(), label: "nav.explore", icon: Explore, key: "g e" },
    { href: paths.create(), label: "nav.create", icon: Create, key: "n", isOnBar: true },
    { href: paths.messages(), label: "nav.messages", icon: Letter, key: "g d" },
    { href: paths.activity(), label: "nav.activity", icon: Bell, key: "g a", isOnBar: true, hasBadge: true },
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
