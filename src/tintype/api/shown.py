"""Posts for the answer: with the people in them and what the viewer keeps, asked for once per page."""

from collections.abc import Sequence

from tintype.accounts import Account
from tintype.api.cursors import encode_cursor
from tintype.api.views import PostsView, PostView, show_post
from tintype.base.ids import PostId
from tintype.posts import Page, Post
from tintype.wiring import Rooms


async def show_posts(rooms: Rooms, viewer: Account | None, posts: Sequence[Post]) -> list[PostView]:
    """Posts that the viewer may see, in the same order."""
    viewer_id = viewer.id if viewer else None
    ids = {each for post in posts for each in (post.author_id, *post.tagged_ids, *post.mention_ids)}
    seen = await rooms.sight.of(viewer_id, ids)
    people = {each: one.account for each, one in seen.items()}
    saved = set[PostId]()
    if viewer_id is not None and posts:
        saved = await rooms.saves.which_saved(viewer_id, [post.id for post in posts])
    return [
        show_post(post, people, rooms.shards.map.layout, viewer=viewer_id, has_saved=post.id in saved)
        for post in posts
        if post.author_id in people
    ]


async def show_page(rooms: Rooms, viewer: Account | None, page: Page[Post]) -> PostsView:
    """A page of posts with the cursor of the next."""
    shown = await show_posts(rooms, viewer, page.items)
    return PostsView(shown, encode_cursor(page.next_before), page.next_before is not None)
