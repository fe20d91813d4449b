/** What the API speaks of, by the names the app uses. Ids are strings: a 64-bit number would lose its last digits here. */
import type { components } from "./schema";

export type Schemas = components["schemas"];

/** A sign-in that needs one more proof. */
export type Asked = Schemas["SecondFactorView"];
export type Account = Schemas["AccountView"];
export type Profile = Schemas["AccountView"];
export type Author = Schemas["AuthorView"];
/** One picture or clip in several widths; the keys of `urls` are pixels. */
export type Media = Schemas["MediaView"];
export type Post = Schemas["PostView"];
export type PostPage = Schemas["PostsView"];
export type UploadedMedia = Schemas["UploadedView"];
export type NewPost = Schemas["NewPost"];
