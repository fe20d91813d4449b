"""What the API shows of highlights. Ids are strings."""

from datetime import datetime
from typing import Annotated

import msgspec

from shardwright.ids import Layout
from tintype.api.story_views import show_mentions
from tintype.api.views import MediaView, TaggedView, show_media
from tintype.base.ids import AccountId
from tintype.media import Addresses
from tintype.posts import PostMedia
from tintype.stories import Audience, Highlight, Item

Title = Annotated[str, msgspec.Meta(examples=["By the sea"])]


class HighlightItemView(msgspec.Struct, frozen=True):
    """A copy of a story."""

    item_id: str
    story_id: str
    media_type: str
    media_url: str
    media: MediaView
    text: str
    audience: Audience
    mentions: list[TaggedView]
    created_at: datetime


class HighlightCardView(msgspec.Struct, frozen=True):
    """A highlight in the row on a profile."""

    highlight_id: str
    user_id: str
    title: Title
    cover_url: str | None
    item_count: int


class HighlightView(msgspec.Struct, frozen=True):
    """A highlight, opened."""

    highlight_id: str
    user_id: str
    title: Title
    cover_url: str | None
    item_count: int
    items: list[HighlightItemView]
    viewer_is_author: bool


class HighlightsView(msgspec.Struct, frozen=True):
    """Somebody's highlights, in their order."""

    highlights: list[HighlightCardView]


def show_highlight_card(highlight: Highlight, addresses: Addresses) -> HighlightCardView:
    """A highlight in its row."""
    return HighlightCardView(
        highlight_id=str(highlight.id),
        user_id=str(highlight.owner.account.id),
        title=highlight.title,
        cover_url=_cover(highlight, addresses),
        item_count=len(highlight.items),
    )


def show_highlight(
    highlight: Highlight, layout: Layout, addresses: Addresses, *, viewer: AccountId | None
) -> HighlightView:
    """A highlight, opened."""
    owner = highlight.owner.account
    return HighlightView(
        highlight_id=str(highlight.id),
        user_id=str(owner.id),
        title=highlight.title,
        cover_url=_cover(highlight, addresses),
        item_count=len(highlight.items),
        items=[_show_item(item, highlight, layout, addresses) for item in highlight.items],
        viewer_is_author=owner.id == viewer,
    )


def _show_item(item: Item, highlight: Highlight, layout: Layout, addresses: Addresses) -> HighlightItemView:
    media = _picture(item.media, highlight, addresses)
    return HighlightItemView(
        item_id=str(item.id),
        story_id=str(item.story_id),
        media_type=media.type,
        media_url=media.video_url or media.url,
        media=media,
        text=item.text,
        audience=item.audience,
        mentions=show_mentions(item.mentions, highlight.people),
        created_at=layout.id_time(item.story_id),
    )


def _cover(highlight: Highlight, addresses: Addresses) -> str | None:
    cover = highlight.cover
    return _picture(cover.media, highlight, addresses).squares["320"] if cover else None


def _picture(media: PostMedia, highlight: Highlight, addresses: Addresses) -> MediaView:
    return show_media(media, {}, addresses, signed=highlight.owner.account.is_private)
