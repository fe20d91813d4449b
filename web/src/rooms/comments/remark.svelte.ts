/** One comment on screen: its like, its answers, and how they are shown. */
import { t } from "../../base/i18n";
import { Toggle } from "../../base/toggle";
import { type Comment, getReplies } from "../../client/comments";
import { offline } from "../../offline";
import { explain, toasts } from "../../ui";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Remark {
  readonly comment: Mutable<Comment>;
  replies = $state.raw<readonly Remark[]>([]);
  areShown = $state.raw(false);
  isLoading = $state.raw(false);
  hasMore = $state.raw(false);
  #cursor: string | null = null;
  readonly #like: Toggle;

  constructor(loaded: Comment) {
    const comment = $state<Mutable<Comment>>({ ...loaded });
    this.comment = comment;
    this.hasMore = loaded.thread_count > 0;
    this.#like = new Toggle(loaded.viewer_has_liked, {
      show: (on) => {
        comment.viewer_has_liked = on;
        comment.like_count += on ? 1 : -1;
      },
      send: async (on) => void (await offline.carry({ kind: "commentLike", id: comment.comment_id, on })),
      failed: (_, error) => toasts.fail(t("comments.likeFailed", { reason: explain(error) })),
    });
    this.overlay();
  }

  like(): Promise<void> {
    return this.#like.set(!this.comment.viewer_has_liked);
  }

  /** A like that waits for a connection is shown as if it had been given. */
  overlay(): void {
    const wished = offline.wished("commentLike", this.comment.comment_id);
    if (wished !== undefined) this.#like.correct(wished);
  }

  /** What the server turned out to hold. */
  correct(isLiked: boolean): void {
    this.#like.correct(isLiked);
  }

  /** Shows what answers it, or hides it again. */
  async turnReplies(): Promise<void> {
    this.areShown = !this.areShown;
    if (this.areShown && this.replies.length === 0) await this.loadReplies();
  }

  async loadReplies(): Promise<void> {
    if (this.isLoading || !this.hasMore) return;
    this.isLoading = true;
    try {
      const page = await getReplies(this.comment.comment_id, this.#cursor);
      const known = new Set(this.replies.map(({ comment }) => comment.comment_id));
      const fresh = page.comments.filter(({ comment_id }) => !known.has(comment_id));
      this.replies = [...this.replies, ...fresh.map((each) => new Remark(each))];
      this.#cursor = page.next_cursor;
      this.hasMore = page.has_more;
    } catch (error) {
      toasts.fail(explain(error));
    } finally {
      this.isLoading = false;
    }
  }

  /** An answer that was just given stands below it at once. */
  addReply(comment: Comment): void {
    this.comment.thread_count += 1;
    this.areShown = true;
    this.replies = [
      ...this.replies.filter((each) => each.comment.comment_id !== comment.comment_id),
      new Remark(comment),
    ];
  }

  /** Gone, but it still holds its answers. */
  empty(): void {
    Object.assign(this.comment, { state: "gone", text: "", author: null, viewer_may_delete: false });
  }
}
