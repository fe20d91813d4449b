/** Saved posts and collections of them. */
import { send } from "./http";
import type { PostPage, Schemas } from "./types";

export type Collection = Schemas["CollectionView"];

const id = encodeURIComponent;

export const collections = {
  getSaves: (collection: string | null, query: { cursor: string | null; limit: number }) =>
    send<PostPage>("GET", "/saves", { query: { ...query, collection } }),
  list: async () => (await send<Schemas["CollectionsView"]>("GET", "/collections")).collections,
  create: (name: string) => send<Collection>("POST", "/collections", { json: { name } }),
  rename: (collectionId: string, name: string) =>
    send<null>("PATCH", `/collections/${id(collectionId)}`, { json: { name } }),
  remove: (collectionId: string) => send<null>("DELETE", `/collections/${id(collectionId)}`),
  addPost: (collectionId: string, postId: string) =>
    send<null>("PUT", `/collections/${id(collectionId)}/posts/${id(postId)}`),
  removePost: (collectionId: string, postId: string) =>
    send<null>("DELETE", `/collections/${id(collectionId)}/posts/${id(postId)}`),
  unsave: (postId: string) => send<null>("DELETE", `/posts/${id(postId)}/save`),
} as const;
