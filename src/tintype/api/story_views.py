"""What the API shows of stories. Ids are strings."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from shardwright.ids import Layout
from tintype.accounts import Account
from tintype.api.views import (
    MediaView,
    RelationshipView,
    TaggedView,
    picture_of,
    show_media,
    show_relation,
)
from tintype.base.ids import AccountId
from tintype.graph import Seen
from tintype.media import Addresses
from tintype.stories import Audience, Mention, Ring, Story, Tray, View

LIFE = timedelta(hours=24)
WHOLE, NEXT = 3, 2
"""Authors whose stories are loaded now, and those after them to ask for next."""


class StoryView(msgspec.Struct, frozen=True):
    """A story as the viewer sees it. `ttl_remaining` is in whole seconds; the counts are for its author alone."""

    story_id: str
    user_id: str
    media_type: str
    media_url: str
    media: MediaView
    text: str
    audience: Audience
    mentions: list[TaggedView]
    created_at: datetime
    expires_at: datetime
    ttl_remaining: int
    seen: bool
    reply_enabled: bool
    viewer_reaction: str | None
    viewer_is_author: bool
    is_hidden: bool
    view_count: int | None
    reaction_count: int | None


class RingView(msgspec.Struct, frozen=True):
    """Somebody in the tray."""

    user_id: str
    username: str
    full_name: str
    profile_pic_url: str | None
    is_verified: bool
    is_self: bool
    has_unseen: bool
    is_close_friends: bool
    latest_story_ts: datetime
    story_count: int
    unseen_count: int


class PrefetchView(msgspec.Struct, frozen=True):
    """What to load before it is asked for: files now, and authors next."""

    user_ids: list[str]
    media_urls: list[str]


class TrayView(msgspec.Struct, frozen=True):
    """The tray: everybody in order, the stories of the first by their author, and what to load ahead."""

    story_ring: list[RingView]
    stories: dict[str, list[StoryView]]
    prefetch: PrefetchView


class AccountStoriesView(msgspec.Struct, frozen=True):
    """What somebody shows, oldest first; `starts_at` is the place of the first that the viewer has not seen."""

    user_id: str
    username: str
    full_name: str
    profile_pic_url: str | None
    is_verified: bool
    stories: list[StoryView]
    starts_at: int


class StoryViewerView(msgspec.Struct, frozen=True):
    """Somebody who saw a story, and how they took it."""

    user_id: str
    username: str
    full_name: str
    profile_pic_url: str | None
    is_verified: bool
    is_private: bool
    relationship: RelationshipView
    reaction: str | None
    seen_at: datetime


class StoryViewersView(msgspec.Struct, frozen=True):
    """A page of those who saw a story, the latest first."""

    view_count: int
    viewers: list[StoryViewerView]
    next_cursor: str | None
    has_more: bool


class ReplyView(msgspec.Struct, frozen=True):
    """A reply that was sent."""

    reply_id: str
    story_id: str
    created_at: datetime


def show_story(story: Story, layout: Layout, addresses: Addresses, *, viewer: AccountId | None) -> StoryView:
    """A story for the answer."""
    media = show_media(story.media, {}, addresses, signed=story.author.account.is_private)
    created_at, is_own = layout.id_time(story.id), story.author_id == viewer
    return StoryView(
        story_id=str(story.id),
        user_id=str(story.author_id),
        media_type=media.type,
        media_url=media.video_url or media.url,
        media=media,
        text=story.text,
        audience=story.audience,
        mentions=show_mentions(story.mentions, story.people),
        created_at=created_at,
        expires_at=created_at + LIFE,
        ttl_remaining=max(0, int(story.ttl_s)),
        seen=story.is_seen,
        reply_enabled=story.replies_enabled,
        viewer_reaction=story.reaction,
        viewer_is_author=is_own,
        is_hidden=story.is_hidden,
        view_count=story.view_count if is_own else None,
        reaction_count=story.reaction_count if is_own else None,
    )


def show_tray(tray: Tray, layout: Layout, addresses: Addresses, *, viewer: AccountId) -> TrayView:
    """The tray for the answer, with what to load ahead."""
    shown = {
        str(author): [show_story(story, layout, addresses, viewer=viewer) for story in stories]
        for author, stories in tray.stories.items()
    }
    others = [str(ring.author.account.id) for ring in tray.rings if not ring.author.relation.is_self]
    first = [_first_unseen(shown[each]) for each in others[:WHOLE] if each in shown]
    prefetch = PrefetchView(others[WHOLE : WHOLE + NEXT], [story.media_url for story in first if story])
    return TrayView([_show_ring(ring, layout) for ring in tray.rings], shown, prefetch)


def show_account_stories(
    author: Seen, stories: Sequence[Story], layout: Layout, addresses: Addresses, *, viewer: AccountId | None
) -> AccountStoriesView:
    """Somebody's stories for the answer."""
    account = author.account
    unseen = (place for place, story in enumerate(stories) if not story.is_seen)
    return AccountStoriesView(
        user_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        profile_pic_url=picture_of(account),
        is_verified=account.is_verified,
        stories=[show_story(story, layout, addresses, viewer=viewer) for story in stories],
        starts_at=next(unseen, 0),
    )


def show_viewer(view: View, layout: Layout) -> StoryViewerView:
    """Somebody who saw it."""
    account = view.viewer.account
    return StoryViewerView(
        user_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        profile_pic_url=picture_of(account),
        is_verified=account.is_verified,
        is_private=account.is_private,
        relationship=show_relation(view.viewer.relation),
        reaction=view.reaction,
        seen_at=layout.id_time(view.change_id),
    )


def _show_ring(ring: Ring, layout: Layout) -> RingView:
    account = ring.author.account
    return RingView(
        user_id=str(account.id),
        username=account.username,
        full_name=account.full_name,
        profile_pic_url=picture_of(account),
        is_verified=account.is_verified,
        is_self=ring.author.relation.is_self,
        has_unseen=bool(ring.unseen_ids),
        is_close_friends=ring.is_close_friends,
        latest_story_ts=layout.id_time(ring.story_ids[-1]),
        story_count=len(ring.story_ids),
        unseen_count=len(ring.unseen_ids),
    )


def _first_unseen(stories: Sequence[StoryView]) -> StoryView | None:
    unseen = [story for story in stories if not story.seen]
    return next(iter([*unseen, *stories]), None)


def show_mentions(mentions: Sequence[Mention], people: Mapping[AccountId, Account]) -> list[TaggedView]:
    """Those mentioned whom the viewer may know of."""
    return [
        TaggedView(str(one.account_id), people[one.account_id].username, one.x, one.y)
        for one in mentions
        if one.account_id in people
    ]
