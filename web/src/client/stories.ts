/** Stories, which expire after a day, and highlights, which keep copies of them. */
import { send } from "./http";
import type { Schemas, UploadedMedia } from "./types";
import { type UploadOptions, upload } from "./upload";

export type Story = Schemas["StoryView"];
export type Ring = Schemas["RingView"];
export type TrayPage = Schemas["TrayView"];
export type StoryDraftBody = Schemas["StoryDraft"];
export type Highlight = Schemas["HighlightView"];
export type Reaction = NonNullable<Story["viewer_reaction"]>;

export const REACTIONS: readonly Reaction[] = ["❤️", "🔥", "😂", "😮", "😢", "👏", "🎉", "💯"];

const id = encodeURIComponent;
const at = (storyId: string) => `/stories/${id(storyId)}`;

export const stories = {
  getTray: () => send<TrayPage>("GET", "/stories/feed"),
  getByAccount: (accountId: string) =>
    send<Schemas["AccountStoriesView"]>("GET", `/accounts/${id(accountId)}/stories`),
  upload: (file: File, options: UploadOptions) =>
    upload<UploadedMedia>("/media/upload", file, { ...options, fields: { kind: "story" } }),
  publish: (story: Schemas["StoryDraft"], key: string) =>
    send<Story>("POST", "/stories", { json: story, headers: { "Idempotency-Key": key } }),
  remove: (storyId: string) => send<null>("DELETE", at(storyId)),
  markSeen: (storyIds: readonly string[]) =>
    send<null>("PUT", "/stories/seen", { json: { story_ids: storyIds } }),
  getViewers: (storyId: string, cursor: string | null) =>
    send<Schemas["StoryViewersView"]>("GET", `${at(storyId)}/viewers`, { query: { cursor, limit: 30 } }),
  react: (storyId: string, reaction: Reaction | null) =>
    reaction === null
      ? send<null>("DELETE", `${at(storyId)}/reaction`)
      : send<null>("PUT", `${at(storyId)}/reaction`, { json: { reaction } }),
  reply: (storyId: string, text: string, key: string) =>
    send<Schemas["ReplyView"]>("POST", `${at(storyId)}/replies`, {
      json: { text },
      headers: { "Idempotency-Key": key },
    }),

  vote: (storyId: string, choice: number) => send<Story>("PUT", `${at(storyId)}/vote`, { json: { choice } }),
  answer: (storyId: string, text: string) => send<null>("PUT", `${at(storyId)}/answer`, { json: { text } }),
  getAnswers: (storyId: string, cursor: string | null) =>
    send<Schemas["StoryAnswersView"]>("GET", `${at(storyId)}/answers`, { query: { cursor, limit: 30 } }),
  remind: (storyId: string, isWanted: boolean) =>
    send<null>(isWanted ? "PUT" : "DELETE", `${at(storyId)}/reminder`),

  getHighlight: (highlightId: string) => send<Highlight>("GET", `/highlights/${id(highlightId)}`),
  getOwnHighlights: async () => (await send<Schemas["HighlightsView"]>("GET", "/highlights")).highlights,
  createHighlight: (title: string, storyId: string) =>
    send<Highlight>("POST", "/highlights", { json: { title, story_ids: [storyId] } }),
  changeHighlight: (highlightId: string, change: Schemas["HighlightEdit"]) =>
    send<Highlight>("PATCH", `/highlights/${id(highlightId)}`, { json: change }),
  removeHighlight: (highlightId: string) => send<null>("DELETE", `/highlights/${id(highlightId)}`),
  addToHighlight: (highlightId: string, storyId: string) =>
    send<Highlight>("PATCH", `/highlights/${id(highlightId)}`, { json: { add_story_ids: [storyId] } }),
} as const;
