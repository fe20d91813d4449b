/** Keeps the app up to date for one account: by the live connection while it stands, by polling otherwise. */
import { hasWaiting } from "../../base/encryptionKeys";
import { startLive, stopLive } from "../../live";
import { keepBadges } from "./badges";
import { offerNewPosts } from "./newPosts.svelte";
import { watchPosts } from "./watchedPosts";

/** For `$effect`: begins, and returns the function that ends everything again. */
export function keepLive(accountId: string): () => void {
  const ends = [keepBadges(), offerNewPosts(), watchPosts()];
  void startLive(accountId);
  if (hasWaiting(accountId)) void sendWaiting();
  return () => {
    for (const end of ends) end();
    void stopLive();
  };
}

/** Goes on with encrypted messages that an earlier page has left unsent. */
async function sendWaiting(): Promise<void> {
  const { getOutbox } = await import("../../rooms/direct/lazy");
  await (await getOutbox()).drain();
}
