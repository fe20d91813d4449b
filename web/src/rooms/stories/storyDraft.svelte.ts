/** The draft of a story: the file uploads while its text is still being written. */
import { randomId } from "../../base/random";
import type { UploadedMedia } from "../../client";
import { stories } from "../../client/stories";
import type { PersonTag } from "../media";

export class StoryDraft {
  file = $state.raw<File | null>(null);
  share = $state.raw(0);
  media = $state.raw<UploadedMedia | null>(null);
  failure = $state.raw<unknown>(null);
  isSharing = $state.raw(false);
  text = $state("");
  altText = $state("");
  audience = $state<"everyone" | "close_friends">("everyone");
  allowsReplies = $state(true);
  /** Mentioned people at fractions of the picture, and where the next one goes if the author tapped there. */
  mentions = $state.raw<readonly PersonTag[]>([]);
  spot = $state.raw<{ x: number; y: number } | null>(null);
  #abort: AbortController | null = null;
  #key = randomId();

  /** Uploads the file, or sets `failure`. */
  async setFile(file: File): Promise<void> {
    this.discard();
    const abort = new AbortController();
    this.#abort = abort;
    this.file = file;
    this.#key = randomId();
    try {
      this.media = await stories.upload(file, {
        signal: abort.signal,
        onProgress: (share) => {
          this.share = share;
        },
      });
    } catch (error) {
      if (!abort.signal.aborted) this.failure = error;
    }
  }

  /** Publishes the story; resolves to whether it succeeded. The idempotency key makes a retry safe. */
  async publish(): Promise<boolean> {
    if (this.media === null) return false;
    this.isSharing = true;
    this.failure = null;
    try {
      await stories.publish(
        {
          media_id: this.media.media_id,
          audience: this.audience,
          text: this.text.trim(),
          alt_text: this.altText.trim(),
          replies_enabled: this.allowsReplies,
          mentions: this.mentions.map(({ account_id, x, y }) => ({ account_id, x, y })),
        },
        this.#key,
      );
      return true;
    } catch (error) {
      this.failure = error;
      return false;
    } finally {
      this.isSharing = false;
    }
  }

  discard(): void {
    this.#abort?.abort();
    this.file = null;
    this.media = null;
    this.share = 0;
    this.failure = null;
    this.mentions = [];
    this.spot = null;
  }
}
