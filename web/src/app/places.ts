/** The places the navigation leads to. One list for the rail and the bar: a place appears once it exists. */
import type { Component } from "svelte";
import type { MessageKey } from "../base/i18n";
import { paths } from "../base/router";
import type { Account } from "../client";
import Create from "../ui/icons/Create.svelte";
import Home from "../ui/icons/Home.svelte";
import Person from "../ui/icons/Person.svelte";
import Sliders from "../ui/icons/Sliders.svelte";

export interface Place {
  readonly href: string;
  readonly label: Extract<MessageKey, `nav.${string}`>;
  readonly icon: Component<{ size?: number; isFilled?: boolean }>;
  /** Phones have room for a few; the others are reached from within them. */
  readonly isOnBar: boolean;
  /** Its address is not known yet, so it cannot be where we are. */
  readonly isPending?: boolean;
}

/** The places stand still while it is not yet known who is here; only the way to one's own profile waits. */
export function placesFor(account: Account | null): Place[] {
  const own = account === null ? paths.home() : paths.profile(account.username);
  return [
    { href: paths.home(), label: "nav.home", icon: Home, isOnBar: true },
    { href: paths.create(), label: "nav.create", icon: Create, isOnBar: true },
    { href: own, label: "nav.profile", icon: Person, isOnBar: true, isPending: account === null },
    { href: paths.settings(), label: "nav.settings", icon: Sliders, isOnBar: false },
  ];
}
