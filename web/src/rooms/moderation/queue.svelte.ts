/** The queue: filtered, page by page; and one case with everything that was said and done about it. */
import { t } from "../../base/i18n";
import { Pages } from "../../base/pages.svelte";
import { type Act, type Case, type CaseDetails, type CaseFilter, moderation } from "../../client/safety";
import { explain, toasts } from "../../ui";
import { actionOf } from "./wording";

const PAGE = 30;

export const everything: CaseFilter = { status: "open", order: "oldest", kind: null, whose: "all" };

export function createQueue(filter: CaseFilter): Pages<Case> {
  return new Pages<Case>(
    async (cursor) => {
      const page = await moderation.getCases(filter, cursor, PAGE);
      return { items: page.cases, next: page.has_more ? page.next_cursor : null };
    },
    ({ case_id }) => case_id,
  );
}

export class OpenCase {
  details = $state.raw<CaseDetails | null>(null);
  failure = $state.raw<unknown>(null);
  isBusy = $state.raw(false);
  readonly #caseId: string;

  constructor(caseId: string) {
    this.#caseId = caseId;
  }

  async load(): Promise<void> {
    this.failure = null;
    try {
      this.details = await moderation.getCase(this.#caseId);
    } catch (error) {
      this.failure = error;
    }
  }

  claim = () => this.#attempt(() => moderation.claim(this.#caseId));
  release = () => this.#attempt(() => moderation.release(this.#caseId));

  /** Says whether it is done; the log then holds it for good. */
  async act(action: Act, reason: string): Promise<boolean> {
    const isDone = await this.#attempt(() => moderation.act(this.#caseId, action, reason));
    if (isDone) toasts.say(t("moderation.done", { act: actionOf(action) }));
    return isDone;
  }

  async #attempt(send: () => Promise<Case>): Promise<boolean> {
    this.isBusy = true;
    try {
      await send();
      await this.load();
      return true;
    } catch (error) {
      toasts.fail(explain(error));
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}
