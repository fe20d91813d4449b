/** The state of the button that follows a hashtag. */
import { t } from "../../base/i18n";
import { OptimisticToggle } from "../../base/optimisticToggle";
import { search } from "../../client/search";
import { errorMessage, toasts } from "../../ui";

export class TagFollow {
  isOn = $state(false);
  readonly #toggle: OptimisticToggle;

  constructor(tag: string, isFollowed: boolean) {
    this.isOn = isFollowed;
    this.#toggle = new OptimisticToggle(isFollowed, {
      show: (on) => {
        this.isOn = on;
      },
      send: async (on) => void (await search.followTag(tag, on)),
      onFailure: (_, error) => toasts.error(t("search.followFailed", { tag, reason: errorMessage(error) })),
    });
  }

  follow(on: boolean): Promise<void> {
    return this.#toggle.set(on);
  }
}
