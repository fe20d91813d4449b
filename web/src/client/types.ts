/** The API types by the names the app uses. Ids are strings: 64-bit integers do not fit a JavaScript number. */
import type { components } from "./schema";

export type Schemas = components["schemas"];

/** A login that needs a second factor. */
export type SecondFactorChallenge = Schemas["SecondFactorView"];
/** The viewer's own account. */
export type Account = Schemas["OwnAccountView"];
export type Profile = Schemas["AccountView"];
export type Author = Schemas["AuthorView"];
/** A photo or video in several renditions; the keys of `urls` are widths in pixels. */
export type Media = Schemas["MediaView"];
export type Post = Schemas["PostView"];
export type PostPage = Schemas["PostsView"];
export type UploadedMedia = Schemas["UploadedView"];
export type NewPost = Schemas["NewPost"];
