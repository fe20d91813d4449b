/** Remembers over a reload of this tab that the demo job is running, so that its progress is shown again. */
import { readItem, writeItem } from "../../base/webStorage";

const KEY = "tintype.filling";

export const wasDemoRunning = (): boolean => readItem(KEY, "sessionStorage") !== null;

export const setDemoRunning = (isRunning: boolean): void =>
  writeItem(KEY, isRunning ? "yes" : null, "sessionStorage");
