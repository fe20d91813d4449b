export { api, type Credentials, type NewPerson } from "./api";
export { csrfToken } from "./csrf";
export { onSessionEnded, type SendOptions, send } from "./http";
export { isNotFound, Problem } from "./problem";
export type {
  Account,
  Author,
  Media,
  NewPost,
  Post,
  PostPage,
  Profile,
  Schemas,
  SecondFactorChallenge,
  UploadedMedia,
} from "./types";
export type { UploadOptions } from "./upload";
