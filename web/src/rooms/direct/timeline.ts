/** The rows of a thread: messages grouped by author and time, with marks between days and before what is new. */
import type { Author } from "../../client";
import type { Member } from "../../client/direct";
import type { ShownMessage } from "./shownMessage";

export interface DayRow {
  readonly kind: "day";
  readonly key: string;
  readonly at: string;
}
export interface NewRow {
  readonly kind: "new";
  readonly key: string;
}
export interface MessageRow {
  readonly kind: "message";
  readonly key: string;
  readonly message: ShownMessage;
  /** The first and last of consecutive messages by the same person. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Who has read up to here and no further. */
  readonly seenBy: readonly Author[];
}
export type Row = DayRow | NewRow | MessageRow;

/** Messages further apart than this are not one group. */
const GROUP_WITHIN_MS = 5 * 60_000;

/** The rows of messages, oldest first. `firstUnread` is the number of the first message that was new when the thread was opened. */
export function rowsOf(
  messages: readonly ShownMessage[],
  seen: ReadonlyMap<string, readonly Author[]>,
  firstUnread: number | null,
): Row[] {
  const rows: Row[] = [];
  for (const [index, message] of messages.entries()) {
    const previous = messages[index - 1];
    const next = messages[index + 1];
    const isNew = startsUnread(previous, message, firstUnread);
    if (previous === undefined || !isSameDay(previous, message))
      rows.push({ kind: "day", key: `day:${dayOf(message)}`, at: message.created_at });
    if (isNew) rows.push({ kind: "new", key: "new" });
    rows.push({
      kind: "message",
      key: message.key,
      message,
      isFirst: isNew || previous === undefined || !isGroup(previous, message),
      isLast: next === undefined || !isGroup(message, next) || startsUnread(message, next, firstUnread),
      seenBy: seen.get(message.key) ?? [],
    });
  }
  return rows;
}

/** For each other member, the last of the viewer's messages that they have read. */
export function seenMarkers(
  messages: readonly ShownMessage[],
  members: readonly Member[],
  viewerId: string | null,
): Map<string, Author[]> {
  const own = messages.filter(({ is_own, status, kind }) => is_own && status === "sent" && kind !== "unsent");
  const markers = new Map<string, Author[]>();
  for (const { person, seen_number, is_invited } of members) {
    if (person.account_id === viewerId || is_invited) continue;
    const last = own.findLast(({ number }) => number <= seen_number);
    if (last !== undefined) markers.set(last.key, [...(markers.get(last.key) ?? []), person]);
  }
  return markers;
}

function startsUnread(
  previous: ShownMessage | undefined,
  message: ShownMessage,
  firstUnread: number | null,
): boolean {
  if (firstUnread === null || message.is_own || message.number < firstUnread) return false;
  return previous === undefined || previous.number < firstUnread;
}

function isGroup(a: ShownMessage, b: ShownMessage): boolean {
  const apart_ms = Date.parse(b.created_at) - Date.parse(a.created_at);
  const isSameAuthor = a.is_own === b.is_own && a.author?.account_id === b.author?.account_id;
  return isSameAuthor && apart_ms < GROUP_WITHIN_MS && isSameDay(a, b);
}

function isSameDay(a: ShownMessage, b: ShownMessage): boolean {
  return dayOf(a) === dayOf(b);
}

/** In the time zone of this device. */
function dayOf({ created_at }: ShownMessage): string {
  return new Date(created_at).toDateString();
}
