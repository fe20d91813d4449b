"""Finds and uploads what the demo people post."""

import asyncio

from tintype.base.ids import LARGEST_ID, AccountId, PostId
from tintype.media import Media, UploadOptions
from tintype.wiring import Rooms

MAX_POSTS = 200
"""More than any of them has."""


async def find_posts(rooms: Rooms, author: AccountId) -> dict[str, PostId]:
    """The posts of an author by their captions, which are unique among the demo people's."""
    page = await rooms.posts.page_of_author(author, before=LARGEST_ID, limit=MAX_POSTS)
    found = await rooms.posts.find_many(page, viewer=author)
    return {post.caption: post.id for post in found.values()}


async def upload(rooms: Rooms, owner: AccountId, content: bytes, options: UploadOptions) -> Media:
    """Upload a photo in somebody's name."""
    with rooms.media.temporary_folder() as folder:
        source = folder / "photo"
        await asyncio.to_thread(source.write_bytes, content)
        return await rooms.media.upload(owner, source, options)
