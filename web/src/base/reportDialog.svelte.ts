/** Opens the report dialog. Any room may call it; the app shell loads and shows the dialog. */

export interface ReportTarget {
  readonly kind: "account" | "post" | "comment" | "story" | "message" | "thread";
  readonly objectId: string;
  /** The owner's name, shown in the dialog. */
  readonly username: string;
  /** The owner's id, so that they can be blocked from the dialog. */
  readonly accountId: string;
  /** What an encrypted message says, which the server cannot see: sent with the report as the reporter's word. */
  readonly claimedText?: string;
}

class ReportDialogState {
  target = $state.raw<ReportTarget | null>(null);

  open(target: ReportTarget): void {
    this.target = target;
  }

  close(): void {
    this.target = null;
  }
}

export const reportDialog = new ReportDialogState();
