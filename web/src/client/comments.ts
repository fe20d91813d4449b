/** Comments on posts. */
import { send } from "./http";
import type { Schemas } from "./types";

export type Comment = Schemas["CommentView"];
export type CommentPage = Schemas["CommentsView"];
export type Sort = "newest" | "oldest" | "top";

const id = encodeURIComponent;
const set = (on: boolean) => (on ? "PUT" : "DELETE");

export const getComments = (postId: string, sort: Sort, cursor: string | null) =>
  send<CommentPage>("GET", `/posts/${id(postId)}/comments`, { query: { sort, cursor, limit: 20 } });
export const getReplies = (commentId: string, cursor: string | null) =>
  send<CommentPage>("GET", `/comments/${id(commentId)}/replies`, { query: { cursor, limit: 20 } });
export const deleteComment = (commentId: string) => send<null>("DELETE", `/comments/${id(commentId)}`);
export const pinComment = (commentId: string, on: boolean) =>
  send<null>(set(on), `/comments/${id(commentId)}/pin`);
