/** How the viewer stands to somebody: following, asking, shown at once, made true afterwards, taken back honestly. */
import { t } from "../../base/i18n";
import { Toggle } from "../../base/toggle";
import { api } from "../../client";
import { explain, toasts } from "../../ui";

export interface Stance {
  readonly account_id: string;
  readonly username: string;
  readonly is_private: boolean;
  readonly viewer_follows: boolean;
  readonly viewer_has_requested: boolean;
  readonly follows_viewer: boolean;
}

/** Somebody on screen whose follow button answers at once. */
export class Standing {
  readonly accountId: string;
  readonly username: string;
  readonly isPrivate: boolean;
  follows = $state(false);
  hasRequested = $state(false);
  followsViewer = $state(false);
  /** By how much the number of their followers differs from what was loaded. */
  difference = $state(0);
  readonly #toggle: Toggle;

  constructor(loaded: Stance) {
    this.accountId = loaded.account_id;
    this.username = loaded.username;
    this.isPrivate = loaded.is_private;
    this.follows = loaded.viewer_follows;
    this.hasRequested = loaded.viewer_has_requested;
    this.followsViewer = loaded.follows_viewer;
    this.#toggle = new Toggle(this.isOn, {
      show: (on) => this.#show(on),
      send: async (on) => {
        await (on ? api.follow : api.unfollow)(this.accountId);
      },
      failed: (wish, error) => {
        const facts = { name: this.username, reason: explain(error) };
        toasts.fail(t(wish ? "profile.followFailed" : "profile.unfollowFailed", facts));
      },
    });
  }

  get isOn(): boolean {
    return this.follows || this.hasRequested;
  }

  follow(on: boolean): Promise<void> {
    return this.#toggle.set(on);
  }

  /** Every follow between the two is over, whoever ended it. */
  end(): void {
    this.#show(false);
    this.#toggle.adopt(false);
    this.followsViewer = false;
  }

  #show(on: boolean): void {
    if (this.follows) this.difference -= 1;
    this.hasRequested = on && this.isPrivate;
    this.follows = on && !this.isPrivate;
    if (this.follows) this.difference += 1;
  }
}
