/** A comment in the tree on screen: its optimistic like and its lazily loaded replies. */
import { t } from "../../base/i18n";
import { OptimisticToggle } from "../../base/optimisticToggle";
import { type Comment, getReplies } from "../../client/comments";
import { offline } from "../../offline";
import { errorMessage, toasts } from "../../ui";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class CommentNode {
  readonly comment: Mutable<Comment>;
  replies = $state.raw<readonly CommentNode[]>([]);
  areRepliesShown = $state.raw(false);
  isLoading = $state.raw(false);
  hasMore = $state.raw(false);
  #cursor: string | null = null;
  readonly #like: OptimisticToggle;

  constructor(loaded: Comment) {
    const comment = $state<Mutable<Comment>>({ ...loaded });
    this.comment = comment;
    this.hasMore = loaded.thread_count > 0;
    this.#like = new OptimisticToggle(loaded.viewer_has_liked, {
      show: (on) => {
        comment.viewer_has_liked = on;
        comment.like_count += on ? 1 : -1;
      },
      send: async (on) => void (await offline.submit({ kind: "commentLike", id: comment.comment_id, on })),
      onFailure: (_, error) => toasts.error(t("comments.likeFailed", { reason: errorMessage(error) })),
    });
    this.applyPending();
  }

  like(): Promise<void> {
    return this.#like.set(!this.comment.viewer_has_liked);
  }

  /** Shows a like that is still in the offline queue as given. */
  applyPending(): void {
    const pending = offline.pendingValue("commentLike", this.comment.comment_id);
    if (pending !== undefined) this.#like.reconcile(pending);
  }

  /** Shows the server's state when it turned out to differ. */
  reconcile(isLiked: boolean): void {
    this.#like.reconcile(isLiked);
  }

  /** Shows the replies, or hides them again. */
  async toggleReplies(): Promise<void> {
    this.areRepliesShown = !this.areRepliesShown;
    if (this.areRepliesShown && this.replies.length === 0) await this.loadReplies();
  }

  async loadReplies(): Promise<void> {
    if (this.isLoading || !this.hasMore) return;
    this.isLoading = true;
    try {
      const page = await getReplies(this.comment.comment_id, this.#cursor);
      const known = new Set(this.replies.map(({ comment }) => comment.comment_id));
      const fresh = page.comments.filter(({ comment_id }) => !known.has(comment_id));
      this.replies = [...this.replies, ...fresh.map((each) => new CommentNode(each))];
      this.#cursor = page.next_cursor;
      this.hasMore = page.has_more;
    } catch (error) {
      toasts.error(errorMessage(error));
    } finally {
      this.isLoading = false;
    }
  }

  /** Adds a reply that was just posted. */
  addReply(comment: Comment): void {
    this.comment.thread_count += 1;
    this.areRepliesShown = true;
    this.replies = [
      ...this.replies.filter((each) => each.comment.comment_id !== comment.comment_id),
      new CommentNode(comment),
    ];
  }

  /** Turns a deleted comment into a placeholder that keeps its replies. */
  markDeleted(): void {
    Object.assign(this.comment, { state: "gone", text: "", author: null, viewer_may_delete: false });
  }
}
