/** What a viewer does with the stickers of a story: sent to the server, and shown at once. */
import { t } from "../../../base/i18n";
import { type Story, stories } from "../../../client/stories";
import { errorMessage, toasts } from "../../../ui";
import type { StoryPlayback } from "../playback.svelte";
import type { StoryElement } from "./types";

export class ElementActions {
  readonly #playback: StoryPlayback;
  readonly #story: Story;

  constructor(playback: StoryPlayback, story: Story) {
    this.#playback = playback;
    this.#story = story;
  }

  /** Nobody votes in their own story, or in a highlight. */
  get mayAct(): boolean {
    return !this.#story.viewer_is_author && this.#playback.reel?.accountId !== "";
  }

  readonly vote = (choice: number): void => {
    void this.#attempt(async () => {
      const { elements } = await stories.vote(this.#story.story_id, choice);
      this.#playback.patch(this.#story.story_id, { elements });
    });
  };

  readonly answer = (text: string): Promise<boolean> =>
    this.#attempt(async () => {
      await stories.answer(this.#story.story_id, text);
      this.#change("question", { viewer_answer: text });
      toasts.info(t("stories.answerSent"));
    });

  readonly remind = (isWanted: boolean): void => {
    void this.#attempt(async () => {
      await stories.remind(this.#story.story_id, isWanted);
      this.#change("countdown", { viewer_is_reminded: isWanted });
    });
  };

  /** The story waits while somebody writes. */
  readonly hold = (isHeld: boolean): void => {
    this.#playback.isHeld = isHeld;
  };

  #change(type: StoryElement["type"], change: object): void {
    const elements = this.#story.elements.map((each) =>
      each.type === type ? ({ ...each, ...change } as StoryElement) : each,
    );
    this.#playback.patch(this.#story.story_id, { elements });
  }

  async #attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      toasts.error(errorMessage(error));
      return false;
    }
  }
}
