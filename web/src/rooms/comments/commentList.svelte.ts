/** The comments of one post: paginated, with optimistic posting, and cached for reading offline. */
import { untrack } from "svelte";
import { onCommentsAdded } from "../../base/commentEvents";
import { randomId } from "../../base/random";
import { onAccountHidden } from "../../base/visibilityEvents";
import {
  type Comment,
  type CommentPage,
  deleteComment,
  getComments,
  pinComment,
  type Sort,
} from "../../client/comments";
import { type CommentMutation, isUnreachable, type Mutation, offline } from "../../offline";
import { postStore } from "../posts";
import { CommentNode } from "./commentNode.svelte";

export class CommentList {
  readonly postId: string;
  comments = $state.raw<readonly CommentNode[]>([]);
  status = $state.raw<"loading" | "ready" | "failed">("loading");
  failure = $state.raw<unknown>(null);
  hasMore = $state.raw(false);
  isLoadingMore = $state.raw(false);
  sort = $state.raw<Sort>("newest");
  /** Requests in flight. */
  sending = $state.raw<readonly CommentMutation[]>([]);
  /** Comments in the offline queue. */
  queued = $state.raw<readonly CommentMutation[]>([]);
  /** The viewer's comments that the server has not confirmed yet. */
  readonly pending = $derived.by(() => {
    const keys = new Set(this.queued.map(({ key }) => key));
    const inFlight = this.sending.filter(({ key }) => !keys.has(key));
    return [
      ...inFlight.map((mutation) => ({ mutation, isQueued: false })),
      ...this.queued.map((mutation) => ({ mutation, isQueued: true })),
    ];
  });
  /** The text of a queued comment that the server rejected; the field shows it again. */
  rejectedText = $state.raw("");
  #cursor: string | null = null;
  /** When the newest comment was written that the server has listed. */
  #newest = "";

  constructor(postId: string) {
    this.postId = postId;
  }

  /** Keeps the list in sync with the offline queue and hidden accounts; made for `$effect`. */
  subscribe(): () => void {
    const unsubscribers = [
      onAccountHidden(({ accountId, scope }) => scope === "everything" && this.#removeBy(accountId)),
      onCommentsAdded((postId) => postId === this.postId && void this.#addNew()),
      offline.watchPending((pending) => {
        this.queued = pending.filter((mutation) => this.#isOfThisPost(mutation));
        for (const node of untrack(() => this.#all())) node.applyPending();
      }),
      offline.onSettled((mutation, comment, problem) => {
        if (mutation.kind === "commentLike" && problem !== null)
          this.#find(mutation.id)?.reconcile(!mutation.on);
        if (!this.#isOfThisPost(mutation)) return;
        if (comment !== null) this.#add(comment);
        if (problem !== null) this.rejectedText = mutation.text;
      }),
    ];
    return () => {
      for (const unsubscribe of unsubscribers) unsubscribe();
    };
  }

  async load(sort: Sort = this.sort): Promise<void> {
    this.sort = sort;
    this.status = "loading";
    this.failure = null;
    const key = `comments:${this.postId}`;
    try {
      const page = await getComments(this.postId, sort, null);
      this.#start(page);
      offline.store(key, page);
    } catch (error) {
      const cached = isUnreachable(error) ? await offline.read<CommentPage>(key) : null;
      if (cached !== null) return this.#start({ ...cached, next_cursor: null, has_more: false });
      this.failure = error;
      this.status = "failed";
    }
  }

  async loadMore(): Promise<void> {
    if (this.isLoadingMore || !this.hasMore) return;
    this.isLoadingMore = true;
    try {
      const page = await getComments(this.postId, this.sort, this.#cursor);
      const known = new Set(this.comments.map(({ comment }) => comment.comment_id));
      const fresh = page.comments.filter(({ comment_id }) => !known.has(comment_id));
      this.comments = [...this.comments, ...fresh.map((each) => new CommentNode(each))];
      this.#setCursor(page);
    } finally {
      this.isLoadingMore = false;
    }
  }

  /** Posts a comment, shown as pending at once. Rejects when the server does; without a connection it is queued. */
  async post(text: string, replyTo: CommentNode | null): Promise<void> {
    const mutation: CommentMutation = {
      kind: "comment",
      id: this.postId,
      text,
      replyTo: replyTo?.comment.comment_id ?? null,
      key: randomId(),
    };
    this.sending = [...this.sending, mutation];
    try {
      const comment = await offline.submit(mutation);
      if (comment !== null) this.#add(comment);
    } finally {
      this.sending = this.sending.filter(({ key }) => key !== mutation.key);
    }
  }

  async remove(node: CommentNode): Promise<void> {
    const { comment_id, thread_count, root_id } = node.comment;
    await deleteComment(comment_id);
    if (thread_count > 0) node.markDeleted();
    else {
      this.comments = this.comments.filter((each) => each !== node);
      const root = this.comments.find(({ comment }) => comment.comment_id === root_id);
      if (root !== undefined) root.replies = root.replies.filter((each) => each !== node);
    }
    this.#count(-1);
  }

  async pin(node: CommentNode, on: boolean): Promise<void> {
    await pinComment(node.comment.comment_id, on);
    await this.load();
  }

  /** Shows what others have written since, above the rest. */
  async #addNew(): Promise<void> {
    if (this.status !== "ready") return;
    try {
      const { comments } = await getComments(this.postId, "newest", null);
      const known = new Set(this.#all().map(({ comment }) => comment.comment_id));
      const isNew = (comment: Comment) => comment.root_id === null && !known.has(comment.comment_id);
      const fresh = comments.filter((each) => isNew(each) && each.created_at > this.#newest);
      this.#noteNewest(comments);
      this.comments = [...fresh.map((each) => new CommentNode(each)), ...this.comments];
    } catch {
      // The count says that there are more; opening the comments again shows them.
    }
  }

  #isOfThisPost(mutation: Mutation): mutation is CommentMutation {
    return mutation.kind === "comment" && mutation.id === this.postId;
  }

  /** Removes an account's comments and the replies to them. */
  #removeBy(accountId: string): void {
    const isTheirs = ({ comment }: CommentNode) => comment.author?.account_id === accountId;
    this.comments = this.comments.filter((node) => !isTheirs(node));
    for (const node of this.comments) node.replies = node.replies.filter((reply) => !isTheirs(reply));
  }

  #all(): CommentNode[] {
    return this.comments.flatMap((node) => [node, ...node.replies]);
  }

  #find(commentId: string): CommentNode | undefined {
    return this.#all().find(({ comment }) => comment.comment_id === commentId);
  }

  #start(page: CommentPage): void {
    this.comments = page.comments.map((each) => new CommentNode(each));
    this.#noteNewest(page.comments);
    this.#setCursor(page);
    this.status = "ready";
  }

  #noteNewest(comments: readonly Comment[]): void {
    for (const { created_at } of comments) if (created_at > this.#newest) this.#newest = created_at;
  }

  #setCursor(page: CommentPage): void {
    this.#cursor = page.next_cursor;
    this.hasMore = page.has_more && page.next_cursor !== null;
  }

  #add(comment: Comment): void {
    const isKnown = (node: CommentNode) => node.comment.comment_id === comment.comment_id;
    const root = this.comments.find((node) => node.comment.comment_id === comment.root_id);
    if (this.comments.some(isKnown) || root?.replies.some(isKnown)) return;
    this.#count(1);
    if (root !== undefined) root.addReply(comment);
    else if (comment.root_id === null) this.comments = [new CommentNode(comment), ...this.comments];
  }

  #count(by: 1 | -1): void {
    const post = postStore.find(this.postId);
    if (post !== null) postStore.patch(this.postId, { comment_count: Math.max(0, post.comment_count + by) });
  }
}
