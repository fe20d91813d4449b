/** How the viewer stands to somebody: following, asking, shown at once, made true afterwards, taken back honestly. */
import { t } from "../../base/i18n";
import { part } from "../../base/parting";
import { Toggle } from "../../base/toggle";
import { offline } from "../../offline";
import { explain, toasts } from "../../ui";

export interface Stance {
  readonly account_id: string;
  readonly username: string;
  readonly is_private: boolean;
  readonly viewer_follows: boolean;
  readonly viewer_has_requested: boolean;
  readonly follows_viewer: boolean;
}

/** By account: the one on screen hears when a wish that waited for a connection was refused. */
const latest = new Map<string, Standing>();

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
        await offline.carry({ kind: "follow", id: this.accountId, on });
        if (!on) part(this.accountId, "feed");
      },
      failed: (wish, error) => {
        const facts = { name: this.username, reason: explain(error) };
        toasts.fail(t(wish ? "profile.followFailed" : "profile.unfollowFailed", facts));
      },
    });
    const wished = offline.wished("follow", this.accountId);
    if (wished !== undefined) this.#toggle.correct(wished);
    latest.set(this.accountId, this);
  }

  /** What the server turned out to hold. */
  correct(on: boolean): void {
    this.#toggle.correct(on);
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

offline.listen((wish, _, problem) => {
  if (wish.kind === "follow" && problem) latest.get(wish.id)?.correct(!wish.on);
});
