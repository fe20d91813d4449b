/** Actions of the post menu: sent to the server, applied to the post store, confirmed or reported with a toast. */
import { t } from "../../../base/i18n";
import type { Post } from "../../../client";
import { mute } from "../../../client/peopleLists";
import { archivePost, deletePost, editPost, type PostEdit, pinPost, untagMe } from "../../../client/posts";
import { offline } from "../../../offline";
import { attempt } from "../../../ui/attempt";
import { postStore } from "../postStore.svelte";

export function edit(post: Post, change: PostEdit): Promise<boolean> {
  return attempt(async () => postStore.put(await editPost(post.post_id, change)), {
    success: t("posts.changed"),
  });
}

export function pin({ post_id }: Post, on: boolean): Promise<boolean> {
  const send = async () => {
    await pinPost(post_id, on);
    postStore.patch(post_id, { is_pinned: on });
  };
  return attempt(send, { success: t(on ? "posts.pinned" : "posts.unpinned") });
}

export function archive({ post_id }: Post, on: boolean): Promise<boolean> {
  const send = async () => {
    await archivePost(post_id, on);
    postStore.patch(post_id, { is_archived: on });
    postStore.setStatus(post_id, on ? "archived" : "shown");
  };
  return attempt(send, { success: t(on ? "posts.archived" : "posts.unarchived") });
}

export function remove({ post_id }: Post): Promise<boolean> {
  const send = async () => {
    await deletePost(post_id);
    postStore.setStatus(post_id, "deleted");
  };
  return attempt(send, { success: t("posts.deleted") });
}

export function untag({ post_id }: Post): Promise<boolean> {
  const send = async () => {
    await untagMe(post_id);
    postStore.patch(post_id, { viewer_is_tagged: false });
  };
  return attempt(send, { success: t("posts.untagged") });
}

export function muteAuthor({ author }: Post): Promise<boolean> {
  const send = () => mute(author.account_id, { posts: true });
  return attempt(() => send().then(() => removePostsBy(author)), {
    success: t("posts.muted", { name: author.username }),
  });
}

export function unfollowAuthor({ author }: Post): Promise<boolean> {
  const send = () => offline.submit({ kind: "follow", id: author.account_id, on: false });
  return attempt(() => send().then(() => removePostsBy(author)), {
    success: t("posts.unfollowed", { name: author.username }),
  });
}

function removePostsBy({ account_id }: Post["author"]): void {
  postStore.remove(({ author }) => author.account_id === account_id);
}
