/** The state of a follow button: an optimistic follow, or a follow request when the account is private. */
import { announceFollow } from "../../base/followEvents";
import { t } from "../../base/i18n";
import { OptimisticToggle } from "../../base/optimisticToggle";
import { announceHidden } from "../../base/visibilityEvents";
import { offline } from "../../offline";
import { errorMessage, toasts } from "../../ui";

export interface FollowFacts {
  readonly account_id: string;
  readonly username: string;
  readonly is_private: boolean;
  readonly viewer_follows: boolean;
  readonly viewer_has_requested: boolean;
  readonly follows_viewer: boolean;
}

/** The latest instance by account, to roll back when a queued follow is rejected. */
const latest = new Map<string, FollowState>();

export class FollowState {
  readonly accountId: string;
  readonly username: string;
  readonly isPrivate: boolean;
  follows = $state(false);
  hasRequested = $state(false);
  followsViewer = $state(false);
  /** What to add to the loaded follower count. */
  followerDelta = $state(0);
  readonly #toggle: OptimisticToggle;

  constructor(loaded: FollowFacts) {
    this.accountId = loaded.account_id;
    this.username = loaded.username;
    this.isPrivate = loaded.is_private;
    this.follows = loaded.viewer_follows;
    this.hasRequested = loaded.viewer_has_requested;
    this.followsViewer = loaded.follows_viewer;
    this.#toggle = new OptimisticToggle(this.isOn, {
      show: (on) => this.#show(on),
      send: async (on) => {
        await offline.submit({ kind: "follow", id: this.accountId, on });
        announceFollow(this.accountId, on && !this.isPrivate);
        if (!on) announceHidden(this.accountId, "feed");
      },
      onFailure: (desired, error) => {
        const facts = { name: this.username, reason: errorMessage(error) };
        toasts.error(t(desired ? "profile.followFailed" : "profile.unfollowFailed", facts));
      },
    });
    const pending = offline.pendingValue("follow", this.accountId);
    if (pending !== undefined) this.#toggle.reconcile(pending);
    latest.set(this.accountId, this);
  }

  /** Shows the server's state when it turned out to differ. */
  reconcile(on: boolean): void {
    this.#toggle.reconcile(on);
  }

  get isOn(): boolean {
    return this.follows || this.hasRequested;
  }

  follow(on: boolean): Promise<void> {
    return this.#toggle.set(on);
  }

  /** Ends the follows in both directions, as a block does. */
  end(): void {
    this.#show(false);
    this.#toggle.setConfirmed(false);
    this.followsViewer = false;
  }

  #show(on: boolean): void {
    if (this.follows) this.followerDelta -= 1;
    this.hasRequested = on && this.isPrivate;
    this.follows = on && !this.isPrivate;
    if (this.follows) this.followerDelta += 1;
  }
}

offline.onSettled((mutation, _, problem) => {
  if (mutation.kind === "follow" && problem) latest.get(mutation.id)?.reconcile(!mutation.on);
});
