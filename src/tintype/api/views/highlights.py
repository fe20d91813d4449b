"""Highlights: stories that stay on a profile."""

from typing import Annotated

import msgspec
from msgspec.structs import astuple

from tintype.api.views.context import ViewContext
from tintype.api.views.media import show_media
from tintype.api.views.stories import StoryContentView, show_content, story_audience
from tintype.stories import Highlight, HighlightItem

Title = Annotated[str, msgspec.Meta(examples=["By the sea"])]


class HighlightItemView(StoryContentView, frozen=True):
    """A copy of a story in a highlight."""

    item_id: str


class HighlightCardView(msgspec.Struct, frozen=True):
    """A highlight in the row on a profile."""

    highlight_id: str
    account_id: str
    title: Title
    cover_url: str | None
    item_count: int


class HighlightView(HighlightCardView, frozen=True):
    """A highlight with its items."""

    items: list[HighlightItemView]
    viewer_is_author: bool


class HighlightsView(msgspec.Struct, frozen=True):
    """Somebody's highlights, in the order their owner gave them."""

    highlights: list[HighlightCardView]


def show_highlight_card(highlight: Highlight, context: ViewContext) -> HighlightCardView:
    """A highlight in the row on a profile."""
    cover, owner = highlight.cover, highlight.owner.account
    cover_media = show_media(cover.media, context, audience=story_audience(cover, owner)) if cover else None
    return HighlightCardView(
        highlight_id=str(highlight.id),
        account_id=str(owner.id),
        title=highlight.title,
        cover_url=cover_media.squares["320"] if cover_media else None,
        item_count=len(highlight.items),
    )


def show_highlight(highlight: Highlight, context: ViewContext) -> HighlightView:
    """A highlight with its items."""
    return HighlightView(
        *astuple(show_highlight_card(highlight, context)),
        items=[_show_item(item, highlight, context) for item in highlight.items],
        viewer_is_author=highlight.owner.account.id == context.viewer_id,
    )


def _show_item(item: HighlightItem, highlight: Highlight, context: ViewContext) -> HighlightItemView:
    content = show_content(item.story_id, item, highlight.owner.account, highlight, context)
    return HighlightItemView(*astuple(content), item_id=str(item.id))
