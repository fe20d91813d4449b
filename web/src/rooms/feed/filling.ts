/** Whether the site was being filled when this tab last looked: after a reload its progress is shown again. */
import { recall, remember } from "../../base/device";

const KEY = "tintype.filling";

export const wasFilling = (): boolean => recall(KEY, "sessionStorage") !== null;

export const noteFilling = (isFilling: boolean): void =>
  remember(KEY, isFilling ? "yes" : null, "sessionStorage");
