/** A story on its way: the file goes up while its words are still being written. */
import { randomId } from "../../base/random";
import type { UploadedMedia } from "../../client";
import { stories } from "../../client/stories";
import type { PersonTag } from "../media";

export class Making {
  file = $state.raw<File | null>(null);
  share = $state.raw(0);
  media = $state.raw<UploadedMedia | null>(null);
  failure = $state.raw<unknown>(null);
  isSharing = $state.raw(false);
  text = $state("");
  altText = $state("");
  audience = $state<"everyone" | "close_friends">("everyone");
  takesReplies = $state(true);
  /** Who is named, at fractions of the picture, and where the next name goes if somebody has pointed there. */
  mentions = $state.raw<readonly PersonTag[]>([]);
  spot = $state.raw<{ x: number; y: number } | null>(null);
  #abort: AbortController | null = null;
  #key = randomId();

  /** The file is with the server when this resolves, or `failure` says why not. */
  async take(file: File): Promise<void> {
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

  /** Whether it is up. The key makes a second try, after a lost answer, the same story. */
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
          replies_enabled: this.takesReplies,
          mentions: this.mentions.map(({ user_id, x, y }) => ({ user_id, x, y })),
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
