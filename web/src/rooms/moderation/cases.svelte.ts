/** The filtered, paginated queue of moderation cases, and one open case. */
import { t } from "../../base/i18n";
import { nextCursor, PagedList } from "../../base/pagedList.svelte";
import { type Act, type Case, type CaseDetails, type CaseFilter, moderation } from "../../client/moderation";
import { toasts } from "../../ui";
import { attempt } from "../../ui/attempt";
import { actionLabel } from "./labels";

const PAGE_SIZE = 30;

export const defaultFilter: CaseFilter = { status: "open", order: "oldest", kind: null, whose: "all" };

export function createCaseList(filter: CaseFilter): PagedList<Case> {
  return new PagedList<Case>(
    async (cursor) => {
      const page = await moderation.getCases(filter, cursor, PAGE_SIZE);
      return { items: page.cases, next: nextCursor(page) };
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

  /** Takes a moderation action; resolves to whether it succeeded. The log keeps it permanently. */
  async act(action: Act, reason: string): Promise<boolean> {
    const isDone = await this.#attempt(() => moderation.act(this.#caseId, action, reason));
    if (isDone) toasts.info(t("moderation.done", { act: actionLabel(action) }));
    return isDone;
  }

  async #attempt(send: () => Promise<Case>): Promise<boolean> {
    this.isBusy = true;
    const isDone = await attempt(async () => {
      await send();
      await this.load();
    });
    this.isBusy = false;
    return isDone;
  }
}
