/** Changes the viewer's relation to somebody: mute, restrict, close friend, remove follower, block. They are not notified. */
import { t } from "../../base/i18n";
import { announceHidden } from "../../base/visibilityEvents";
import { people, type Relation } from "../../client/people";
import { mute, type PeopleList, setListed } from "../../client/peopleLists";
import { toasts } from "../../ui";
import { attempt } from "../../ui/attempt";
import type { FollowState } from "./followState.svelte";

export class RelationEditor {
  relation = $state.raw<Relation | null>(null);
  failure = $state.raw<unknown>(null);
  isBusy = $state.raw(false);
  readonly #followState: FollowState;

  constructor(followState: FollowState) {
    this.#followState = followState;
  }

  async load(): Promise<void> {
    this.failure = null;
    try {
      this.relation = await people.getRelation(this.#followState.accountId);
    } catch (error) {
      this.failure = error;
    }
  }

  async mutePosts(on: boolean): Promise<void> {
    const isDone = await this.#change({ viewer_mutes_posts: on }, (id) => mute(id, { posts: on }));
    if (isDone && on) announceHidden(this.#followState.accountId, "posts");
  }

  async muteStories(on: boolean): Promise<void> {
    const isDone = await this.#change({ viewer_mutes_stories: on }, (id) => mute(id, { stories: on }));
    if (isDone && on) announceHidden(this.#followState.accountId, "stories");
  }

  restrict = (on: boolean) => this.#setListed({ viewer_restricts: on }, "restrictions", on);
  setCloseFriend = (on: boolean) => this.#setListed({ viewer_has_as_close_friend: on }, "close-friends", on);

  async removeFollower(): Promise<void> {
    const isDone = await this.#change({ follows_viewer: false }, people.removeFollower);
    if (isDone) this.#followState.followsViewer = false;
  }

  /** Resolves to whether they are blocked now. */
  async block(): Promise<boolean> {
    const isDone = await this.#setListed({ viewer_blocks: true }, "blocks", true);
    if (isDone) {
      this.#followState.end();
      announceHidden(this.#followState.accountId);
      toasts.info(t("people.blocked", { name: this.#followState.username }));
    }
    return isDone;
  }

  #setListed(change: Partial<Relation>, list: PeopleList, on: boolean): Promise<boolean> {
    return this.#change(change, (id) => setListed(list, id, on));
  }

  /** Optimistic update: shown at once, rolled back with an error message when the server refuses. */
  async #change(change: Partial<Relation>, send: (accountId: string) => Promise<null>): Promise<boolean> {
    const before = this.relation;
    if (before === null || this.isBusy) return false;
    this.isBusy = true;
    this.relation = { ...before, ...change };
    const isDone = await attempt(() => send(this.#followState.accountId), {
      rollBack: () => {
        this.relation = before;
      },
    });
    this.isBusy = false;
    return isDone;
  }
}
