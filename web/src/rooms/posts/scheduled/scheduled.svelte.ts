/** The viewer's scheduled posts, and what can be done with them. */
import { t } from "../../../base/i18n";
import { Resource } from "../../../base/resource.svelte";
import type { Post } from "../../../client";
import {
  cancelScheduled,
  editScheduled,
  listScheduled,
  publishScheduled,
  type ScheduledPost,
  type ScheduledPostEdit,
} from "../../../client/scheduledPosts";
import { attempt } from "../../../ui/attempt";

export class ScheduledPosts {
  readonly #list = new Resource(listScheduled);

  get items(): readonly ScheduledPost[] | null {
    return this.#list.value;
  }

  get failure(): unknown {
    return this.#list.failure;
  }

  load(): Promise<void> {
    return this.#list.load();
  }

  edit({ scheduled_id }: ScheduledPost, edit: ScheduledPostEdit): Promise<boolean> {
    return this.#change(() => editScheduled(scheduled_id, edit), t("create.scheduledChanged"));
  }

  cancel({ scheduled_id }: ScheduledPost): Promise<boolean> {
    return this.#change(() => cancelScheduled(scheduled_id), t("create.scheduledCancelled"));
  }

  /** Publishes it now; null where that is not possible. */
  async publish({ scheduled_id }: ScheduledPost): Promise<Post | null> {
    let post: Post | null = null;
    const publish = async () => {
      post = await publishScheduled(scheduled_id);
    };
    await this.#change(publish, t("create.scheduledPublished"));
    return post;
  }

  /** Whether it worked or not, the list may have changed: a post may have been published meanwhile. */
  async #change(work: () => Promise<unknown>, success: string): Promise<boolean> {
    const hasWorked = await attempt(work, { success });
    await this.load();
    return hasWorked;
  }
}
