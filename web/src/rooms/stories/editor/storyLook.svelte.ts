/** The look of the photo in a story: chosen from the list, or by swiping over the picture. */

import { PLAIN } from "../../media";
import { decodePhoto, EditSession } from "../../media/editor";

const NAME_SHOWN_MS = 900;

export class StoryLook {
  readonly session = new EditSession(PLAIN);
  /** The name of the look, for a moment after a swipe. */
  shownName = $state.raw("");
  /** The browser cannot decode it: a video, or HEIC outside Safari. It is shown without a look. */
  isUndecodable = $state.raw(false);
  #hiding: ReturnType<typeof setTimeout> | undefined;

  async open(file: File): Promise<void> {
    this.session.close();
    this.session.set(PLAIN);
    this.isUndecodable = false;
    try {
      await this.session.use(await decodePhoto(file));
    } catch {
      this.isUndecodable = true;
    }
  }

  /** The next or previous look in the list, around its ends. */
  step(by: 1 | -1): void {
    const { looks, edit, photo } = this.session;
    if (photo === null || looks.length === 0) return;
    const ids = [null, ...looks.map(({ id }) => id)];
    const look = ids[(ids.indexOf(edit.look) + by + ids.length) % ids.length] ?? null;
    this.session.set({ look, strength: 100 });
    this.shownName = looks.find(({ id }) => id === look)?.name ?? "–";
    clearTimeout(this.#hiding);
    this.#hiding = setTimeout(() => {
      this.shownName = "";
    }, NAME_SHOWN_MS);
  }

  close(): void {
    clearTimeout(this.#hiding);
    this.session.close();
  }
}
