// Turns a trace that Lighthouse recorded from the clock's time into the processor's: what a task waited for other programs is
// taken out of it. Chromium writes both beside every task.

import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const TASK = /RunTask$/;

/** The traces in a folder of artifacts count processor time from now on. */
export async function countProcessorTime(folder) {
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

/** Each task of one thread shrinks around its beginning, and everything within it by the same share, so that all still nests. */
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
