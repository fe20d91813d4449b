// Rewrites a Lighthouse trace from wall-clock to CPU time, so that waiting for other processes does not count. Chromium records
// both for every task.

import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const TASK = /RunTask$/;

/** Rewrites all traces in a folder of Lighthouse artifacts. */
export async function useCpuTime(folder) {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".trace.json"));
  for (const name of names) {
    const file = path.join(folder, name);
    const trace = JSON.parse(await readFile(file, "utf8"));
    for (const events of threads(trace.traceEvents)) shorten(events);
    await writeFile(file, JSON.stringify(trace));
  }
}

function threads(events) {
  const found = new Map();
  for (const event of events) {
    const thread = `${event.pid} ${event.tid}`;
    if (!found.has(thread)) found.set(thread, []);
    found.get(thread).push(event);
  }
  return found.values();
}

/** Shrinks each task of a thread to its CPU time, and all events within it by the same factor, so that they still nest. */
function shorten(events) {
  events.sort((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0));
  let task = null;
  for (const event of events) {
    if (task !== null && event.ts >= task.end) task = null;
    if (task === null) {
      if (event.ph !== "X" || !TASK.test(event.name) || !(event.dur > 0) || event.tdur === undefined)
        continue;
      task = { begin: event.ts, end: event.ts + event.dur, share: Math.min(1, event.tdur / event.dur) };
    }
    event.ts = Math.round(task.begin + (event.ts - task.begin) * task.share);
    if (event.dur !== undefined) event.dur = Math.floor(event.dur * task.share);
  }
}
