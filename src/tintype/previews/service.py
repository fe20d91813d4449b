"""Makes the preview of a link, as far as everybody may see what it points to."""

from tintype.accounts import Account, Accounts
from tintype.base.ids import AccountId
from tintype.graph import Visibility
from tintype.media import full_size
from tintype.posts import Post, PostMedia, Posts
from tintype.previews.errors import PreviewGone, PreviewNotFound
from tintype.previews.links import Link, PlaceLink, PostLink, ProfileLink, TagLink
from tintype.previews.models import Preview, PreviewImage
from tintype.previews.sitemap import Sitemaps
from tintype.previews.texts import (
    MAX_DESCRIPTION,
    MAX_TITLE,
    describe_post,
    describe_posts,
    name_person,
    one_line,
)
from tintype.search import FIRST_PAGE, PlaceNotFound, Search, TagNotFound, place_topic, tag_topic

COVER_CANDIDATES = 24
"""How many of the most liked posts of a hashtag or place are looked at for one that may stand for it."""


class Previews:
    """Previews of links. What not everybody may see, or is unlisted, answers as what does not exist."""

    def __init__(
        self, accounts: Accounts, visibility: Visibility, posts: Posts, search: Search, sitemaps: Sitemaps
    ) -> None:
        self._accounts, self._visibility = accounts, visibility
        self._posts, self._search = posts, search
        self.sitemaps = sitemaps
        """The links that search engines are given."""

    async def get(self, link: Link, *, viewer: AccountId | None = None) -> Preview:
        """The preview of a link, or `PreviewNotFound`, or `PreviewGone`.

        A viewer who is signed in gets none of accounts that are hidden from them, and no more than everybody.
        """
        match link:
            case PostLink():
                return await self._preview_post(link, viewer)
            case ProfileLink():
                return await self._preview_profile(link, viewer)
            case TagLink():
                return await self._preview_tag(link, viewer)
            case PlaceLink():
                return await self._preview_place(link, viewer)

    async def _preview_post(self, link: PostLink, viewer: AccountId | None) -> Preview:
        post = (await self._posts.find_many([link.post_id], viewer=None)).get(link.post_id)
        if post is None:
            await self._raise_if_gone(link, viewer)
            raise PreviewNotFound
        author = (await self._find_listed({post.author_id}, viewer)).get(post.author_id)
        if author is None:
            raise PreviewNotFound
        return Preview(
            link=link,
            title=name_person(author),
            description=describe_post(post),
            image=_picture(post),
            author=author,
            post=post,
        )

    async def _raise_if_gone(self, link: PostLink, viewer: AccountId | None) -> None:
        author_id = await self._posts.find_author_of_deleted(link.post_id)
        if author_id is not None and await self._find_listed({author_id}, viewer):
            raise PreviewGone

    async def _preview_profile(self, link: ProfileLink, viewer: AccountId | None) -> Preview:
        name = link.username.lower()
        known = (await self._accounts.find_by_usernames([name])).get(name)
        account = (await self._find_listed({known.id}, viewer)).get(known.id) if known else None
        if account is None:
            raise PreviewNotFound
        folder = account.avatar_folder
        return Preview(
            link=ProfileLink(account.username),
            title=name_person(account),
            description=one_line(account.bio, MAX_DESCRIPTION),
            image=PreviewImage(folder, name_person(account)) if folder else None,
            author=account,
        )

    async def _preview_tag(self, link: TagLink, viewer: AccountId | None) -> Preview:
        try:
            found = await self._search.get_tag(link.tag)
        except TagNotFound as error:
            raise PreviewNotFound from error
        cover = await self._get_cover(tag_topic(found.tag), viewer)
        return Preview(
            link=TagLink(found.tag),
            title=one_line(f"#{found.tag}", MAX_TITLE),
            description=describe_posts(found.post_count),
            image=_picture(cover),
        )

    async def _preview_place(self, link: PlaceLink, viewer: AccountId | None) -> Preview:
        try:
            # As a guest: a place that only its namer knows of has no preview, not even for them.
            place = await self._search.get_place(link.place_id, viewer=None)
        except PlaceNotFound as error:
            raise PreviewNotFound from error
        topic = place_topic(place.id)
        cover = await self._get_cover(topic, viewer)
        return Preview(
            link=PlaceLink(place.id),
            title=one_line(place.name, MAX_TITLE),
            description=describe_posts(await self._search.count_posts(topic)),
            image=_picture(cover),
        )

    async def _get_cover(self, topic: str, viewer: AccountId | None) -> Post:
        """The most liked post of a topic by somebody who is listed; `PreviewNotFound` where there is none."""
        posts, _ = await self._search.list_posts(
            topic, viewer=None, order="top", after=FIRST_PAGE, limit=COVER_CANDIDATES
        )
        listed = await self._find_listed({post.author_id for post in posts}, viewer)
        for post in posts:
            if post.author_id in listed:
                return post
        raise PreviewNotFound

    async def _find_listed(self, ids: set[AccountId], viewer: AccountId | None) -> dict[AccountId, Account]:
        """Those of the accounts that are public and listed, and that the viewer may see."""
        found = await self._visibility.find_accounts(viewer, ids)
        return {
            each: one.account for each, one in found.items() if one.is_public and not one.account.is_unlisted
        }


def _picture(post: Post) -> PreviewImage | None:
    """The first picture of a post, or a video's poster; none where its file is lost."""
    media: PostMedia | None = next(
        (each for each in post.media if each.state in {"ready", "processing"}), None
    )
    if media is None:
        return None
    alt = one_line(media.alt_text, MAX_DESCRIPTION)
    return PreviewImage(media.folder, alt, full_size(media.width, media.height, media.large_width))
