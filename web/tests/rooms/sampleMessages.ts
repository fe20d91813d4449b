import type { Author } from "../../src/client";
import type { InboxEntry, Member, Message } from "../../src/client/direct";
import type { Change, QueuedChange } from "../../src/live";

export function person(name: string): Author {
  return { account_id: name, username: name, full_name: "", profile_pic_url: null, is_verified: false };
}

/** A message of somebody else unless `is_own`; numbers are minutes of an hour. */
export function sampleMessage(number: number, changes: Partial<Message> = {}): Message {
  return {
    message_id: String(number),
    thread_id: "7",
    number,
    author: person("bo"),
    is_own: false,
    kind: "text",
    text: `Message ${number}`,
    is_hidden: false,
    reply_to: null,
    media: null,
    voice: null,
    post: null,
    story: null,
    sealed: null,
    reactions: [],
    created_at: new Date(2026, 2, 10, 12, number).toISOString(),
    edited_at: null,
    expires_at: null,
    after_seen_s: null,
    ...changes,
  };
}

export function sampleMember(name: string, seen_number: number, changes: Partial<Member> = {}): Member {
  return { person: person(name), is_admin: false, is_invited: false, seen_number, seen_at: null, ...changes };
}

export function sampleEntry(number: number, changes: Partial<InboxEntry> = {}): InboxEntry {
  return {
    thread_id: String(number),
    kind: "pair",
    is_encrypted: false,
    name: "",
    photo: null,
    people: [person("bo")],
    member_count: 2,
    unread_count: 0,
    last_message: sampleMessage(number),
    state: "active",
    is_archived: false,
    muted_until: null,
    ...changes,
  };
}

export function queuedChange(
  localId: string,
  change: Change,
  changes: Partial<QueuedChange> = {},
): QueuedChange {
  const at_ms = new Date(2026, 2, 10, 12, 50).getTime();
  return {
    localId,
    threadId: "7",
    change,
    status: "pending",
    at_ms,
    progress: null,
    problem: null,
    result: null,
    ...changes,
  };
}
