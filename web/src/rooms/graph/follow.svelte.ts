/** Following somebody: shown at once, made true afterwards, taken back honestly. */
import { t } from "../../base/i18n";
import { Toggle } from "../../base/toggle";
import { api, type Profile } from "../../client";
import { explain, toasts } from "../../ui";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

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
      send: async (on) => {
        await (on ? api.follow : api.unfollow)(profile.account_id);
      },
      failed: (wish, error) => {
        const facts = { name: profile.username, reason: explain(error) };
        toasts.fail(t(wish ? "profile.followFailed" : "profile.unfollowFailed", facts));
      },
    });
  }

  follow(on: boolean): Promise<void> {
    return this.#toggle.set(on);
  }
}
