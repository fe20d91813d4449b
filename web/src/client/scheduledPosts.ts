/** Posts that are published later; only their author knows of them. */
import { send } from "./http";
import type { Post, Schemas } from "./types";

export type ScheduledPost = Schemas["ScheduledPostView"];
export type NewScheduledPost = Schemas["NewScheduledPost"];
export type ScheduledPostEdit = Schemas["ScheduledPostEdit"];

const at = (scheduledId: string) => `/scheduled-posts/${encodeURIComponent(scheduledId)}`;

export const listScheduled = async () =>
  (await send<Schemas["ScheduledPostsView"]>("GET", "/scheduled-posts")).scheduled;
/** The idempotency key makes a retry after a lost response return the first one instead of scheduling a second one. */
export const schedulePost = (post: NewScheduledPost, idempotencyKey: string) =>
  send<ScheduledPost>("POST", "/scheduled-posts", {
    json: post,
    headers: { "Idempotency-Key": idempotencyKey },
  });
export const editScheduled = (scheduledId: string, edit: ScheduledPostEdit) =>
  send<ScheduledPost>("PATCH", at(scheduledId), { json: edit });
export const publishScheduled = (scheduledId: string) => send<Post>("POST", `${at(scheduledId)}/publish`);
export const cancelScheduled = (scheduledId: string) => send<null>("DELETE", at(scheduledId));
