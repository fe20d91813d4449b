/** What only oneself sees of one's account; loaded once a settings part asks for it. */
import { getPrivate, type PrivateDetails } from "../../client/own";

export class Own {
  details = $state.raw<PrivateDetails | null>(null);
  failure = $state.raw<unknown>(null);

  async load(): Promise<void> {
    this.failure = null;
    try {
      this.details = await getPrivate();
    } catch (error) {
      this.failure = error;
    }
  }
}
