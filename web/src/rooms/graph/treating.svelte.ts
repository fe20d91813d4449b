/** The quiet ways to treat somebody: mute, restrict, keep close, remove, block. None of them is told to the other. */
import { t } from "../../base/i18n";
import { part } from "../../base/parting";
import { people, type Relation } from "../../client/people";
import { explain, toasts } from "../../ui";
import type { Standing } from "./follow.svelte";

export class Treating {
  relation = $state.raw<Relation | null>(null);
  failure = $state.raw<unknown>(null);
  isBusy = $state.raw(false);
  readonly #standing: Standing;

  constructor(standing: Standing) {
    this.#standing = standing;
  }

  async load(): Promise<void> {
    this.failure = null;
    try {
      this.relation = await people.getRelation(this.#standing.accountId);
    } catch (error) {
      this.failure = error;
    }
  }

  async mutePosts(on: boolean): Promise<void> {
    const isDone = await this.#change({ viewer_mutes_posts: on }, (id) => people.mute(id, { posts: on }));
    if (isDone && on) part(this.#standing.accountId, "posts");
  }

  async muteStories(on: boolean): Promise<void> {
    const isDone = await this.#change({ viewer_mutes_stories: on }, (id) => people.mute(id, { stories: on }));
    if (isDone && on) part(this.#standing.accountId, "stories");
  }

  restrict = (on: boolean) =>
    this.#change({ viewer_restricts: on }, (id) => people.treat("restrictions", id, on));
  befriend = (on: boolean) =>
    this.#change({ viewer_has_as_close_friend: on }, (id) => people.treat("close-friends", id, on));

  async removeFollower(): Promise<void> {
    const isDone = await this.#change({ follows_viewer: false }, people.removeFollower);
    if (isDone) this.#standing.followsViewer = false;
  }

  /** Says whether they are blocked now. */
  async block(): Promise<boolean> {
    const isDone = await this.#change({ viewer_blocks: true }, (id) => people.treat("blocks", id, true));
    if (isDone) {
      this.#standing.end();
      part(this.#standing.accountId);
      toasts.say(t("people.blocked", { name: this.#standing.username }));
    }
    return isDone;
  }

  /** Shown at once; taken back, with the reason, when the server refuses. */
  async #change(wish: Partial<Relation>, send: (accountId: string) => Promise<null>): Promise<boolean> {
    const before = this.relation;
    if (before === null || this.isBusy) return false;
    this.isBusy = true;
    this.relation = { ...before, ...wish };
    try {
      await send(this.#standing.accountId);
      return true;
    } catch (error) {
      this.relation = before;
      toasts.fail(explain(error));
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}
