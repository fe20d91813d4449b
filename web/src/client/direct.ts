/** Direct messages: threads, the inbox, messages, members and settings. Changes of messages go through the message queue. */
import { send } from "./http";
import type { Schemas } from "./types";

export type Thread = Schemas["ThreadView"];
export type GroupPhoto = Schemas["GroupPhotoView"];
export type Member = Schemas["MemberView"];
export type InboxEntry = Schemas["InboxEntryView"];
export type InboxPage = Schemas["InboxView"];
export type Folder = InboxPage["folder"];
/** A recording: `waveform` has 64 peaks of equal parts, 0 to 255. */
export type Voice = Schemas["VoiceView"];
export type Message = Schemas["MessageView"];
export type MessagesPage = Schemas["MessagesView"];
export type DirectSettings = Schemas["DirectSettingsBody"];
export type Presence = Schemas["PresenceView"];

/** The most people that a group has. */
export const MAX_MEMBERS = 250;
export const LONGEST_MESSAGE = 4_000;
export const LONGEST_NAME = 60;
/** How long one may edit what one wrote. */
export const EDIT_WITHIN_MS = 15 * 60_000;

const id = encodeURIComponent;
const at = (threadId: string) => `/direct/threads/${id(threadId)}`;

export const direct = {
  /** The one thread with somebody, new or not. */
  openPair: async (accountId: string): Promise<string> =>
    (await send<Schemas["ThreadRefView"]>("POST", "/direct/threads", { json: { account_ids: [accountId] } }))
      .thread_id,
  /** A new group; repeated under the same local id, the same one. */
  createGroup: async (accountIds: readonly string[], name: string, localId: string): Promise<string> =>
    (
      await send<Schemas["ThreadRefView"]>("POST", "/direct/threads", {
        json: { account_ids: accountIds, name, local_id: localId },
      })
    ).thread_id,
  getInbox: (folder: Folder, cursor: string | null, limit: number) =>
    send<InboxPage>("GET", "/direct/threads", { query: { folder, cursor, limit } }),
  getThread: (threadId: string) => send<Thread>("GET", at(threadId)),
  getMessages: (threadId: string, cursor: string | null, limit: number) =>
    send<MessagesPage>("GET", `${at(threadId)}/messages`, { query: { cursor, limit } }),
  getMessage: (threadId: string, messageId: string) =>
    send<Message>("GET", `${at(threadId)}/messages/${id(messageId)}`),
  search: (words: string, threadId: string | null, cursor: string | null) =>
    send<MessagesPage>("GET", "/direct/search", { query: { q: words, thread_id: threadId, cursor } }),

  markSeen: (threadId: string, number: number) =>
    send<null>("PUT", `${at(threadId)}/seen`, { json: { number } }),
  accept: (threadId: string) => send<null>("PUT", `${at(threadId)}/acceptance`),
  decline: (threadId: string) => send<null>("DELETE", `${at(threadId)}/acceptance`),
  archive: (threadId: string, isArchived: boolean) =>
    send<null>(isArchived ? "PUT" : "DELETE", `${at(threadId)}/archive`),
  /** Without a time, until it is taken back. */
  mute: (threadId: string, for_s: number | null) =>
    send<null>("PUT", `${at(threadId)}/mute`, { json: { for_s } }),
  unmute: (threadId: string) => send<null>("DELETE", `${at(threadId)}/mute`),

  change: (threadId: string, change: Schemas["ThreadChange"]) =>
    send<Thread>("PATCH", at(threadId), { json: change }),
  setPhoto: (threadId: string, media_id: string) =>
    send<Thread>("PUT", `${at(threadId)}/photo`, { json: { media_id } }),
  removePhoto: (threadId: string) => send<null>("DELETE", `${at(threadId)}/photo`),
  addMembers: (threadId: string, accountIds: readonly string[]) =>
    send<null>("POST", `${at(threadId)}/members`, { json: { account_ids: accountIds } }),
  removeMember: (threadId: string, accountId: string) =>
    send<null>("DELETE", `${at(threadId)}/members/${id(accountId)}`),
  setAdmin: (threadId: string, accountId: string, isAdmin: boolean) =>
    send<null>(isAdmin ? "PUT" : "DELETE", `${at(threadId)}/admins/${id(accountId)}`),

  getSettings: () => send<DirectSettings>("GET", "/direct/settings"),
  setSettings: (settings: DirectSettings) =>
    send<DirectSettings>("PUT", "/direct/settings", { json: settings }),
  getPresence: async (accountIds: readonly string[]): Promise<readonly Presence[]> =>
    (
      await send<Schemas["PresencesView"]>("GET", "/presence", {
        query: { account_ids: accountIds.join(",") },
      })
    ).presence,
} as const;

/** How many conversations have unread messages, and how many requests wait. */
export const getUnreadMessages = () => send<Schemas["UnreadMessagesView"]>("GET", "/direct/unread");
