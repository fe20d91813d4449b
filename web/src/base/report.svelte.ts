/** Something the reader wants to report. Any room may ask; the shell fetches the dialog that goes on from there. */

export interface Reported {
  readonly kind: "account" | "post" | "comment" | "story";
  readonly objectId: string;
  /** Whose it is, for the words of the dialog. */
  readonly username: string;
  /** Their id, so that they can be blocked on the spot. */
  readonly accountId: string;
}

class Reporting {
  about = $state.raw<Reported | null>(null);

  ask(about: Reported): void {
    this.about = about;
  }

  close(): void {
    this.about = null;
  }
}

export const reporting = new Reporting();
