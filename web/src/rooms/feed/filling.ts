/** Whether the site was being filled when this tab last looked: after a reload its progress is shown again. */
const KEY = "tintype.filling";

export function wasFilling(): boolean {
  try {
    return sessionStorage.getItem(KEY) !== null;
  } catch {
    return false; // Storage may be forbidden; then nothing is remembered.
  }
}

export function noteFilling(isFilling: boolean): void {
  try {
    if (isFilling) sessionStorage.setItem(KEY, "yes");
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage may be forbidden; then nothing is remembered.
  }
}
