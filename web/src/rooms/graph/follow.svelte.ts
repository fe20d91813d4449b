/** Following somebody: shown at once, made true afterwards, taken back honestly. */
import { t } from "../../base/i18n";
import { Toggle } from "../../base/toggle";
import type { Profile } from "../../client";
import { offline } from "../../offline";
import { explain, toasts } from "../../ui";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** By account: the one on screen hears when a wish that waited for a connection was refused. */
const latest = new Map<string, FollowedProfile>();

/** A profile on screen whose follow button answers at once. */
export class FollowedProfile {
  readonly profile: Profile;
  readonly #toggle: Toggle;

  constructor(loaded: Profile) {
    const profile = $state<Mutable<Profile>>({ ...loaded });
    this.profile = profile;
    this.#toggle = new Toggle(loaded.viewer_follows, {
      show: (on) => {
        profile.viewer_follows = on;
        profile.follower_count += on ? 1 : -1;
      },
      send: async (on) => void (await offline.carry({ kind: "follow", id: profile.account_id, on })),
      failed: (wish, error) => {
        const facts = { name: profile.username, reason: explain(error) };
        toasts.fail(t(wish ? "profile.followFailed" : "profile.unfollowFailed", facts));
      },
    });
    const wished = offline.wished("follow", profile.account_id);
    if (wished !== undefined) this.#toggle.correct(wished);
    latest.set(profile.account_id, this);
  }

  /** What the server turned out to hold. */
  correct(on: boolean): void {
    this.#toggle.correct(on);
  }

  follow(on: boolean): Promise<void> {
    return this.#toggle.set(on);
  }
}

offline.listen((wish, _, problem) => {
  if (wish.kind === "follow" && problem) latest.get(wish.id)?.correct(!wish.on);
});
