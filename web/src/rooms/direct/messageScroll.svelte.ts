/**
 * The scroll position of a thread: at the newest message while one is there, at the same message while older ones are added
 * above it, and at a message that is asked for.
 */
import { tick } from "svelte";
import type { Conversation } from "./conversation.svelte";

/** So close to the end counts as there. */
const NEAR_PX = 60;
/** How long a message that was jumped to is marked. */
const MARKED_MS = 2_000;

export class MessageScroll {
  /** The newest message is on screen. */
  isAtEnd = $state.raw(true);
  /** The message that was jumped to. */
  markedId = $state.raw<string | null>(null);
  readonly #conversation: Conversation;
  #scroller: HTMLElement | null = null;
  #fromEnd_px = 0;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /** For `{@attach}`: follows the size of the content. */
  readonly attach = (scroller: HTMLElement): (() => void) => {
    this.#scroller = scroller;
    const observer = new ResizeObserver(() => this.#follow());
    observer.observe(scroller);
    for (const child of scroller.children) observer.observe(child);
    this.toEnd();
    return () => {
      observer.disconnect();
      this.#scroller = null;
    };
  };

  readonly onscroll = (): void => {
    const scroller = this.#scroller;
    if (scroller === null) return;
    this.#fromEnd_px = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    this.isAtEnd = this.#fromEnd_px < NEAR_PX;
  };

  toEnd(): void {
    this.isAtEnd = true;
    this.#follow();
  }

  /** Loads the page before, and leaves what is on screen where it is. */
  async loadOlder(): Promise<void> {
    const scroller = this.#scroller;
    if (!(await this.#conversation.loadOlder()) || scroller === null) return;
    const { scrollHeight, scrollTop } = scroller;
    await tick();
    if (!this.isAtEnd) scroller.scrollTop = scrollTop + scroller.scrollHeight - scrollHeight;
  }

  /** Scrolls to a message, loading what lies in between; resolves to whether it exists. */
  async jump(messageId: string): Promise<boolean> {
    this.isAtEnd = false;
    if (!(await this.#conversation.loadUntil(messageId))) return false;
    await tick();
    const row = this.#scroller?.querySelector<HTMLElement>(`[data-message="${CSS.escape(messageId)}"]`);
    row?.scrollIntoView({ block: "center" });
    row?.focus({ preventScroll: true });
    this.onscroll();
    this.markedId = messageId;
    setTimeout(() => {
      if (this.markedId === messageId) this.markedId = null;
    }, MARKED_MS);
    return true;
  }

  #follow(): void {
    const scroller = this.#scroller;
    if (scroller !== null && this.isAtEnd) scroller.scrollTop = scroller.scrollHeight;
  }
}
