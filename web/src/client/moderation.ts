/** Reports, moderation decisions about the viewer's content, appeals, and the moderators' queue and log. */
import { send } from "./http";
import type { Schemas } from "./types";

export type ReportKind = Schemas["NewReport"]["kind"];
export type Reason = Schemas["NewReport"]["reason"];
export type Decision = Schemas["DecisionView"];
export type Case = Schemas["CaseView"];
export type CaseDetails = Schemas["CaseDetailsView"];
export type Act = Schemas["NewModerationAction"]["action"];
export type Entry = Schemas["ModerationLogEntryView"];
export interface CaseFilter {
  readonly status: "open" | "closed";
  readonly order: "oldest" | "most_reported";
  readonly kind: ReportKind | null;
  readonly whose: "all" | "mine" | "free" | "appealed";
}

const id = encodeURIComponent;

export const safety = {
  report: (kind: ReportKind, objectId: string, reason: Reason, note: string, claimedText = "") =>
    send<null>("POST", "/reports", {
      json: { kind, object_id: objectId, reason, note, claimed_text: claimedText },
    }),
  getDecisions: async () => (await send<Schemas["DecisionsView"]>("GET", "/decisions")).decisions,
  appeal: (caseId: string, text: string) =>
    send<null>("POST", `/decisions/${id(caseId)}/appeal`, { json: { text } }),
} as const;

export const moderation = {
  getCases: ({ whose, ...filter }: CaseFilter, cursor: string | null, limit: number) =>
    send<Schemas["CasesView"]>("GET", "/moderation/cases", {
      query: { ...filter, ...(whose === "all" ? {} : { [whose]: "true" }), cursor, limit },
    }),
  getCase: (caseId: string) => send<CaseDetails>("GET", `/moderation/cases/${id(caseId)}`),
  claim: (caseId: string) => send<Case>("PUT", `/moderation/cases/${id(caseId)}/claim`, { json: {} }),
  release: (caseId: string) => send<Case>("DELETE", `/moderation/cases/${id(caseId)}/claim`),
  act: (caseId: string, action: Act, reason: string) =>
    send<Case>("POST", `/moderation/cases/${id(caseId)}/acts`, { json: { action, reason } }),
  getLog: (cursor: string | null, limit: number) =>
    send<Schemas["ModerationLogView"]>("GET", "/moderation/log", { query: { cursor, limit } }),
} as const;

/** The viewer's role on this site. */
export const getRole = async () =>
  (await send<Schemas["PrivateDetails"]>("GET", "/accounts/me/private")).role;
