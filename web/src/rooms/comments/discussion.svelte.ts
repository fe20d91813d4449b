/** What is said under one post: read page by page, added to at once, kept for reading without a connection. */
import { untrack } from "svelte";
import { whenParted } from "../../base/parting";
import { randomId } from "../../base/random";
import {
  type Comment,
  type CommentPage,
  deleteComment,
  getComments,
  pinComment,
  type Sort,
} from "../../client/comments";
import { isUnreachable, offline, type Saying, type Wish } from "../../offline";
import { shelf } from "../posts";
import { Remark } from "./remark.svelte";

export class Discussion {
  readonly postId: string;
  remarks = $state.raw<readonly Remark[]>([]);
  status = $state.raw<"loading" | "ready" | "failed">("loading");
  failure = $state.raw<unknown>(null);
  hasMore = $state.raw(false);
  isLoadingMore = $state.raw(false);
  sort = $state.raw<Sort>("newest");
  /** On their way to the server. */
  sending = $state.raw<readonly Saying[]>([]);
  /** Waiting for a connection. */
  waiting = $state.raw<readonly Saying[]>([]);
  /** One's own words that the server has not answered yet. */
  readonly pending = $derived.by(() => {
    const keys = new Set(this.waiting.map(({ key }) => key));
    const onTheWay = this.sending.filter(({ key }) => !keys.has(key));
    return [
      ...onTheWay.map((saying) => ({ saying, isWaiting: false })),
      ...this.waiting.map((saying) => ({ saying, isWaiting: true })),
    ];
  });
  /** Words that came back: the server did not want them. */
  returned = $state.raw("");
  #cursor: string | null = null;

  constructor(postId: string) {
    this.postId = postId;
  }

  /** Follows what waits until the returned function is called; made for `$effect`. */
  follow(): () => void {
    const stops = [
      whenParted(({ accountId, from }) => from === "everything" && this.#dropBy(accountId)),
      offline.watch((wishes) => {
        this.waiting = wishes.filter((wish) => this.#isMine(wish));
        for (const remark of untrack(() => this.#all())) remark.overlay();
      }),
      offline.listen((wish, answer, problem) => {
        if (wish.kind === "commentLike" && problem !== null) this.#find(wish.id)?.correct(!wish.on);
        if (!this.#isMine(wish)) return;
        if (answer !== null) this.#add(answer);
        if (problem !== null) this.returned = wish.text;
      }),
    ];
    return () => {
      for (const stop of stops) stop();
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
      offline.keep(key, page);
    } catch (error) {
      const kept = isUnreachable(error) ? await offline.find<CommentPage>(key) : null;
      if (kept !== null) return this.#start({ ...kept, next_cursor: null, has_more: false });
      this.failure = error;
      this.status = "failed";
    }
  }

  async loadMore(): Promise<void> {
    if (this.isLoadingMore || !this.hasMore) return;
    this.isLoadingMore = true;
    try {
      const page = await getComments(this.postId, this.sort, this.#cursor);
      const known = new Set(this.remarks.map(({ comment }) => comment.comment_id));
      const fresh = page.comments.filter(({ comment_id }) => !known.has(comment_id));
      this.remarks = [...this.remarks, ...fresh.map((each) => new Remark(each))];
      this.#turnTo(page);
    } finally {
      this.isLoadingMore = false;
    }
  }

  /** Shown at once as on its way. Rejects when the server refuses it; without a connection it waits. */
  async say(text: string, replyTo: Remark | null): Promise<void> {
    const wish: Saying = {
      kind: "comment",
      id: this.postId,
      text,
      replyTo: replyTo?.comment.comment_id ?? null,
      key: randomId(),
    };
    this.sending = [...this.sending, wish];
    try {
      const comment = await offline.carry(wish);
      if (comment !== null) this.#add(comment);
    } finally {
      this.sending = this.sending.filter(({ key }) => key !== wish.key);
    }
  }

  async remove(remark: Remark): Promise<void> {
    const { comment_id, thread_count, root_id } = remark.comment;
    await deleteComment(comment_id);
    if (thread_count > 0) remark.empty();
    else {
      this.remarks = this.remarks.filter((each) => each !== remark);
      const root = this.remarks.find(({ comment }) => comment.comment_id === root_id);
      if (root !== undefined) root.replies = root.replies.filter((each) => each !== remark);
    }
    this.#count(-1);
  }

  async pin(remark: Remark, on: boolean): Promise<void> {
    await pinComment(remark.comment.comment_id, on);
    await this.load();
  }

  #isMine(wish: Wish): wish is Saying {
    return wish.kind === "comment" && wish.id === this.postId;
  }

  /** Somebody is out of sight, with everything they said and what was said below it. */
  #dropBy(accountId: string): void {
    const isTheirs = ({ comment }: Remark) => comment.author?.user_id === accountId;
    this.remarks = this.remarks.filter((remark) => !isTheirs(remark));
    for (const remark of this.remarks) remark.replies = remark.replies.filter((reply) => !isTheirs(reply));
  }

  #all(): Remark[] {
    return this.remarks.flatMap((remark) => [remark, ...remark.replies]);
  }

  #find(commentId: string): Remark | undefined {
    return this.#all().find(({ comment }) => comment.comment_id === commentId);
  }

  #start(page: CommentPage): void {
    this.remarks = page.comments.map((each) => new Remark(each));
    this.#turnTo(page);
    this.status = "ready";
  }

  #turnTo(page: CommentPage): void {
    this.#cursor = page.next_cursor;
    this.hasMore = page.has_more && page.next_cursor !== null;
  }

  #add(comment: Comment): void {
    const isKnown = (remark: Remark) => remark.comment.comment_id === comment.comment_id;
    const root = this.remarks.find((remark) => remark.comment.comment_id === comment.root_id);
    if (this.remarks.some(isKnown) || root?.replies.some(isKnown)) return;
    this.#count(1);
    if (root !== undefined) root.addReply(comment);
    else if (comment.root_id === null) this.remarks = [new Remark(comment), ...this.remarks];
  }

  #count(by: 1 | -1): void {
    const post = shelf.find(this.postId);
    if (post !== null) shelf.change(this.postId, { comment_count: Math.max(0, post.comment_count + by) });
  }
}
