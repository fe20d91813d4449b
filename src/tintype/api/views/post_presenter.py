"""Loads what posts are shown with: the people in them and whether the viewer saved them, in one read per page."""

from collections.abc import Sequence

from tintype.accounts import Account
from tintype.api.http.cursors import next_page
from tintype.api.views.context import context_for
from tintype.api.views.posts import PostsView, PostView, show_post
from tintype.base.ids import PostId
from tintype.base.pages import Page
from tintype.posts import Post
from tintype.wiring import Rooms


async def show_posts(rooms: Rooms, viewer: Account | None, posts: Sequence[Post]) -> list[PostView]:
    """These posts in the same order, without those whose author the viewer may not know of."""
    context = context_for(viewer, rooms)
    ids = {each for post in posts for each in (post.author_id, *post.tagged_ids, *post.mention_ids)}
    visible = await rooms.visibility.find_accounts(context.viewer_id, ids)
    people = {account_id: person.account for account_id, person in visible.items()}
    saved = set[PostId]()
    if context.viewer_id is not None and posts:
        saved = await rooms.saves.which_saved(context.viewer_id, [post.id for post in posts])
    return [
        show_post(
            post,
            people,
            context,
            has_saved=post.id in saved,
            follows_author=visible[post.author_id].relation.follows,
        )
        for post in posts
        if post.author_id in people
    ]


async def show_new_post(rooms: Rooms, author: Account, post: Post) -> PostView:
    """A post for its author, who has just published it: nobody has liked or saved it yet."""
    people = {author.id: author}
    others = {*post.tagged_ids, *post.mention_ids} - {author.id}
    if others:
        found = await rooms.visibility.find_accounts(author.id, others)
        people |= {account_id: person.account for account_id, person in found.items()}
    return show_post(post, people, context_for(author, rooms), has_saved=False)


async def show_page(rooms: Rooms, viewer: Account | None, page: Page[Post]) -> PostsView:
    """A page of posts, and the cursor of the next page."""
    shown = await show_posts(rooms, viewer, page.items)
    return PostsView(shown, *next_page(page.next_before))
