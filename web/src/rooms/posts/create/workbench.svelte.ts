/** The tool in use, and the edit of the selected photo. */
import { untrack } from "svelte";
import { frameRatio, ratioOf } from "../../../ui";
import { EditSession, WHOLE } from "../../media/editor";
import { frame } from "../../media/looks";
import type { Draft } from "./draft.svelte";

export type Tool = "describe" | "crop" | "look" | "adjust" | "people";

const MIDDLE = { x: 0.5, y: 0.5 };

export class Workbench {
  tool = $state.raw<Tool>("describe");
  session = $state.raw<EditSession | null>(null);
  /** Where the next tag goes. */
  spot = $state.raw(MIDDLE);
  /** Called when the author has tapped where the next tag goes. */
  onpoint: () => void = () => {};
  readonly #draft: Draft;
  readonly isCropping = $derived(this.tool === "crop" && this.session !== null);
  /** Until all sizes are known the stage would change its shape under the eyes. */
  readonly isSized = $derived.by(() =>
    this.#draft.usable.every(({ photo, base, isVideo }) => photo ?? base ?? isVideo),
  );
  /** The shape of the stage: that of the post; while cropping that of the whole picture, as large as possible. */
  readonly ratio = $derived.by(() => {
    const photo = this.isCropping ? this.session?.photo : null;
    if (!this.session || !photo) return frameRatio(this.#draft.usable.map(({ size }) => size));
    return ratioOf(frame(photo.width, photo.height, { ...this.session.edit, crop: WHOLE }));
  });

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  point(spot: { x: number; y: number }): void {
    this.spot = spot;
    this.onpoint();
  }

  resetSpot(): void {
    this.spot = MIDDLE;
  }

  /** Called in an effect: edits whichever photo is selected, once it is decoded. */
  follow(): void {
    const { selected } = this.#draft;
    const photo = selected?.photo ?? null;
    this.resetSpot();
    if (selected === null || photo === null) {
      this.session = null;
      return;
    }
    const session = new EditSession(
      untrack(() => selected.edit),
      null,
      (edit) => {
        selected.edit = edit;
      },
    );
    this.session = session;
    void session.use(photo);
  }
}
