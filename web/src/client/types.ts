/** What the API speaks of. Ids are strings: a 64-bit number would lose its last digits in JavaScript. */

export interface Account {
  readonly account_id: string;
  readonly username: string;
  readonly full_name: string;
  readonly is_private: boolean;
  readonly is_verified?: boolean;
  readonly profile_pic_url?: string | null;
}

export interface Profile {
  readonly account_id: string;
  readonly username: string;
  readonly full_name: string;
  readonly profile_pic_url?: string | null;
  readonly is_verified?: boolean;
  readonly post_count: number;
  readonly follower_count: number;
  readonly following_count: number;
  readonly viewer_follows: boolean;
}

export interface Author {
  readonly user_id: string;
  readonly username: string;
  readonly full_name: string;
  readonly profile_pic_url: string | null;
  readonly is_verified: boolean;
}

/** One picture in several widths; the keys of `urls` are pixels. */
export interface Media {
  readonly type: string;
  readonly url: string;
  readonly urls: Readonly<Record<string, string>>;
  readonly width: number;
  readonly height: number;
  readonly alt_text: string | null;
  /** A thumbhash in base64, some twenty bytes that already look like the picture. */
  readonly placeholder: string | null;
}

export interface Post {
  readonly post_id: string;
  readonly author: Author;
  readonly media: readonly Media[];
  readonly caption: string | null;
  /** Null where the author does not show it. */
  readonly like_count: number | null;
  readonly comment_count: number;
  readonly created_at: string;
  readonly viewer_has_liked: boolean;
  readonly viewer_has_saved: boolean;
}

export interface PostPage {
  readonly posts: readonly Post[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

export interface UploadedMedia {
  readonly media_id: string;
  readonly urls: Readonly<Record<string, string>>;
  readonly width: number;
  readonly height: number;
  readonly placeholder: string | null;
  readonly expires_at: string | null;
}

export interface NewPost {
  readonly media_ids: readonly string[];
  readonly caption: string;
  readonly alt_texts?: readonly string[];
}
