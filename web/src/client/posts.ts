/** Actions on a post beyond liking and saving it. */
import { send } from "./http";
import type { Post, Schemas } from "./types";

const at = (postId: string) => `/posts/${encodeURIComponent(postId)}`;
const set = (on: boolean) => (on ? "PUT" : "DELETE");

export type PostEdit = Schemas["PostEdit"];

export const editPost = (postId: string, edit: PostEdit) => send<Post>("PATCH", at(postId), { json: edit });
export const deletePost = (postId: string) => send<null>("DELETE", at(postId));
export const archivePost = (postId: string, on: boolean) => send<null>(set(on), `${at(postId)}/archive`);
export const pinPost = (postId: string, on: boolean) => send<null>(set(on), `${at(postId)}/pin`);
export const untagMe = (postId: string) => send<null>("DELETE", `${at(postId)}/tags/me`);
export const getLikers = (postId: string, cursor: string | null) =>
  send<Schemas["PeopleView"]>("GET", `${at(postId)}/likes`, { query: { cursor, limit: 30 } });
