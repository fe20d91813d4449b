/** Translated labels of outcomes, actions and reasons; a value that only a newer server knows is shown untranslated. */
import { t } from "../../base/i18n";
import type { Act, Case, Entry, Reason } from "../../client/moderation";

const outcomes = {
  dismissed: "safety.outcome.dismissed",
  warned: "safety.outcome.warned",
  hidden: "safety.outcome.hidden",
  restored: "safety.outcome.restored",
  deleted: "safety.outcome.deleted",
  suspended: "safety.outcome.suspended",
  unsuspended: "safety.outcome.unsuspended",
} as const;

export function outcomeLabel(outcome: string): string {
  return outcome in outcomes ? t(outcomes[outcome as keyof typeof outcomes]) : outcome;
}

export function actionLabel(action: Entry["action"]): string {
  return t(`moderation.act.${action}`);
}

export function reasonLabel(reason: string): string {
  return t(`safety.reason.${reason as Reason}`);
}

/** The actions available for an object in this state; a note is always possible. */
export function availableActions({ kind, object_state }: Pick<Case, "kind" | "object_state">): Act[] {
  const isHidden = object_state === "hidden";
  if (kind === "account")
    return ["dismiss", "warn", object_state === "suspended" ? "unsuspend" : "suspend", "note"];
  if (object_state === "deleted") return ["dismiss", "warn", "note"];
  return ["dismiss", "warn", isHidden ? "restore" : "hide", "delete", "note"];
}
