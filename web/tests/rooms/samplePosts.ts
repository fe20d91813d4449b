import type { Post, PostPage } from "../../src/client";

export function samplePost(id: number, changes: Partial<Post> = {}): Post {
  return {
    post_id: String(id),
    code: `c${id}`,
    permalink: `/p/c${id}`,
    author: { account_id: "1", username: "ana", full_name: "Ana", profile_pic_url: null, is_verified: false },
    media: [],
    caption: "",
    spans: [],
    place: null,
    like_count: 3,
    comment_count: 0,
    comments_enabled: true,
    hides_like_count: false,
    shows_camera: false,
    is_pinned: false,
    is_archived: false,
    is_hidden: false,
    created_at: "2026-03-10T12:00:00Z",
    edited_at: null,
    viewer_has_liked: false,
    viewer_has_saved: false,
    viewer_is_author: false,
    viewer_is_tagged: false,
    viewer_follows_author: true,
    ...changes,
  };
}

export function samplePage(ids: number[], next: string | null = null): PostPage {
  return { posts: ids.map((id) => samplePost(id)), next_cursor: next, has_more: next !== null };
}
