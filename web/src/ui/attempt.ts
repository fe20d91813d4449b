import { errorMessage } from "./errorMessage";
import { toasts } from "./toasts.svelte";

/** Runs the work and shows `success`; on failure calls `rollBack` and shows the error. Resolves to whether it succeeded. */
export async function attempt(
  work: () => Promise<unknown>,
  { success = "", rollBack }: { success?: string; rollBack?: () => void } = {},
): Promise<boolean> {
  try {
    await work();
    if (success !== "") toasts.info(success);
    return true;
  } catch (error) {
    rollBack?.();
    toasts.error(errorMessage(error));
    return false;
  }
}
