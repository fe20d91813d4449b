/** The draft of a story: the file uploads while the story is still being composed. */
import { randomId } from "../../base/random";
import type { UploadedMedia } from "../../client";
import { editMedia } from "../../client/media";
import { type StoryDraftBody, stories } from "../../client/stories";
import { type Edit, isPlain } from "../media";
import { type NewElement, toNewElement } from "./editor/newElements";
import type { StoryElement } from "./elements/types";

export class StoryDraft {
  file = $state.raw<File | null>(null);
  share = $state.raw(0);
  media = $state.raw<UploadedMedia | null>(null);
  failure = $state.raw<unknown>(null);
  isSharing = $state.raw(false);
  altText = $state("");
  audience = $state<"everyone" | "close_friends">("everyone");
  allowsReplies = $state(true);
  #abort: AbortController | null = null;
  /** The idempotency key of the last attempt, and what was sent: the same again is a repeat, anything else another request. */
  #attempt: { readonly body: string; readonly key: string } | null = null;
  /** The photo with the look it was shared with, so that a retry does not make it again. */
  #edited: { readonly edit: string; readonly mediaId: string } | null = null;

  /** Uploads the file, or sets `failure`. */
  async setFile(file: File): Promise<void> {
    this.discard();
    const abort = new AbortController();
    this.#abort = abort;
    this.file = file;
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
  async publish(elements: readonly StoryElement[], edit: Edit): Promise<boolean> {
    if (this.media === null) return false;
    this.isSharing = true;
    this.failure = null;
    try {
      const story: StoryDraftBody = {
        media_id: await this.#finish(this.media, edit),
        audience: this.audience,
        alt_text: this.altText.trim(),
        replies_enabled: this.allowsReplies,
        elements: elements.map(toNewElement).filter((each): each is NewElement => each !== null),
      };
      await stories.publish(story, this.#keyFor(JSON.stringify(story)));
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
    this.#edited = null;
    this.#attempt = null;
  }

  #keyFor(body: string): string {
    if (this.#attempt?.body !== body) this.#attempt = { body, key: randomId() };
    return this.#attempt.key;
  }

  /** The id of the photo with its look; the server makes that from the original. */
  async #finish({ media_id }: UploadedMedia, edit: Edit): Promise<string> {
    if (isPlain(edit)) return media_id;
    const wanted = JSON.stringify(edit);
    if (this.#edited?.edit !== wanted)
      this.#edited = { edit: wanted, mediaId: (await editMedia(media_id, edit)).media_id };
    return this.#edited.mediaId;
  }
}
