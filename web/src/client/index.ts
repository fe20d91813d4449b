export { api, type Credentials, type NewPerson } from "./api";
export { csrfToken } from "./csrf";
export { type SendOptions, send, whenSignedOut } from "./http";
export { Problem } from "./problem";
export type {
  Account,
  Asked,
  Author,
  Media,
  NewPost,
  Post,
  PostPage,
  Profile,
  Schemas,
  UploadedMedia,
} from "./types";
export type { UploadOptions } from "./upload";
