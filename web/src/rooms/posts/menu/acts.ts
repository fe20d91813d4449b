/** What is done to a post from its menu: asked of the server, shown on every page that has it, said when it fails. */
import { t } from "../../../base/i18n";
import type { Post } from "../../../client";
import {
  archivePost,
  deletePost,
  editPost,
  mutePosts,
  type PostEdit,
  pinPost,
  untagMe,
} from "../../../client/posts";
import { offline } from "../../../offline";
import { explain, toasts } from "../../../ui";
import { shelf } from "../shelf.svelte";

/** Whether it was done; a failure has been said. */
async function attempt(work: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await work();
    toasts.say(done);
    return true;
  } catch (error) {
    toasts.fail(explain(error));
    return false;
  }
}

export function change(post: Post, edit: PostEdit): Promise<boolean> {
  return attempt(async () => shelf.put(await editPost(post.post_id, edit)), t("posts.changed"));
}

export function pin(post: Post, on: boolean): Promise<boolean> {
  const done = t(on ? "posts.pinned" : "posts.unpinned");
  return attempt(async () => {
    await pinPost(post.post_id, on);
    shelf.change(post.post_id, { is_pinned: on });
  }, done);
}

export function archive(post: Post, on: boolean): Promise<boolean> {
  const done = t(on ? "posts.archived" : "posts.unarchived");
  return attempt(async () => {
    await archivePost(post.post_id, on);
    shelf.change(post.post_id, { is_archived: on });
    shelf.move(post.post_id, on ? "archived" : "shown");
  }, done);
}

export function remove(post: Post): Promise<boolean> {
  return attempt(async () => {
    await deletePost(post.post_id);
    shelf.move(post.post_id, "deleted");
  }, t("posts.deleted"));
}

export function untag(post: Post): Promise<boolean> {
  return attempt(async () => {
    await untagMe(post.post_id);
    shelf.change(post.post_id, { viewer_is_tagged: false });
  }, t("posts.untagged"));
}

export function mute({ author }: Post): Promise<boolean> {
  return attempt(
    async () => {
      await mutePosts(author.user_id);
      shelf.drop((post) => post.author.user_id === author.user_id);
    },
    t("posts.muted", { name: author.username }),
  );
}

export function unfollow({ author }: Post): Promise<boolean> {
  return attempt(
    async () => {
      await offline.carry({ kind: "follow", id: author.user_id, on: false });
      shelf.drop((post) => post.author.user_id === author.user_id);
    },
    t("posts.unfollowed", { name: author.username }),
  );
}
