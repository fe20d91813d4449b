"""Stories: one by one, in the tray, and who saw them."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from msgspec.structs import astuple

from tintype.accounts import Account
from tintype.api.http.cursors import next_page
from tintype.api.views.context import ViewContext
from tintype.api.views.media import MediaView, TaggedView, link_audience, show_media, show_tagged
from tintype.api.views.people import AuthorView, PersonView, show_author, show_person
from tintype.api.views.story_elements import StoryElementView, show_elements
from tintype.base.pages import Page
from tintype.graph import VisibleAccount
from tintype.media import Audience
from tintype.stories import (
    FULL_AUTHORS,
    LIFETIME,
    Highlight,
    HighlightItem,
    Ring,
    Story,
    StoryAnswer,
    StoryAudience,
    StoryId,
    StoryViewer,
    Tray,
)

PREFETCHED_AUTHORS = 2
"""How many authors after those whose stories come with the tray a client should load next."""


class StoryContentView(msgspec.Struct, frozen=True):
    """What a live story shows, or its copy in a highlight: the media, text, mentions, and elements over the picture."""

    story_id: str
    media_type: str
    media_url: str
    media: MediaView
    text: str
    audience: StoryAudience
    mentions: list[TaggedView]
    created_at: datetime
    elements: list[StoryElementView]


class StoryView(StoryContentView, frozen=True):
    """A story as the viewer sees it. `ttl_remaining` is in whole seconds; the counts are for its author alone."""

    account_id: str
    expires_at: datetime
    ttl_remaining: int
    seen: bool
    reply_enabled: bool
    viewer_reaction: str | None
    viewer_is_author: bool
    is_hidden: bool
    view_count: int | None
    reaction_count: int | None


class RingView(AuthorView, frozen=True):
    """An author in the tray."""

    is_self: bool
    has_unseen: bool
    is_close_friends: bool
    latest_story_ts: datetime
    story_count: int
    unseen_count: int


class PrefetchView(msgspec.Struct, frozen=True):
    """What a client should load before it is opened: these files now, and the stories of these accounts next."""

    account_ids: list[str]
    media_urls: list[str]


class TrayView(msgspec.Struct, frozen=True):
    """The tray: its authors in order, the stories of the first by their author, and what to load ahead."""

    story_ring: list[RingView]
    stories: dict[str, list[StoryView]]
    prefetch: PrefetchView


class AccountStoriesView(AuthorView, frozen=True):
    """Somebody's stories, oldest first; `starts_at` is the index of the first that the viewer has not seen."""

    stories: list[StoryView]
    starts_at: int


class StoryViewerView(PersonView, frozen=True):
    """Somebody who saw a story, when, and how they reacted."""

    reaction: str | None
    choice: int | None
    """What they chose in the story's poll."""
    seen_at: datetime


class StoryViewersView(msgspec.Struct, frozen=True):
    """A page of those who saw a story, the latest first."""

    view_count: int
    viewers: list[StoryViewerView]
    next_cursor: str | None
    has_more: bool


class StoryAnswerView(PersonView, frozen=True):
    """Somebody's answer to a story's question."""

    text: str


class StoryAnswersView(msgspec.Struct, frozen=True):
    """A page of answers to a story's question."""

    answers: list[StoryAnswerView]
    next_cursor: str | None
    has_more: bool


class ReplyView(msgspec.Struct, frozen=True):
    """A reply that was sent."""

    reply_id: str
    story_id: str
    created_at: datetime


def show_content(
    story_id: StoryId,
    story: Story | HighlightItem,
    author: Account,
    shown_with: Story | Highlight,
    context: ViewContext,
) -> StoryContentView:
    """What a story, or its copy in a highlight, shows; of people and posts, those that were loaded with it."""
    people = shown_with.people
    media = show_media(story.media, context, audience=story_audience(story, author))
    return StoryContentView(
        story_id=str(story_id),
        media_type=media.type,
        media_url=media.video_url or media.url,
        media=media,
        text=story.text,
        audience=story.audience,
        mentions=show_tagged(story.mentions, people),
        created_at=context.layout.id_time(story_id),
        elements=show_elements(story, people, shown_with, context),
    )


def story_audience(story: Story | HighlightItem, author: Account) -> Audience:
    """For whom the URLs of a story's files are made."""
    return link_audience(
        author, is_withheld=story.is_hidden, is_for_close_friends=story.audience == "close_friends"
    )


def show_story(story: Story, context: ViewContext) -> StoryView:
    """A story; its counts are for its author alone."""
    is_own = story.author_id == context.viewer_id
    content = show_content(story.id, story, story.author.account, story, context)
    return StoryView(
        *astuple(content),
        account_id=str(story.author_id),
        expires_at=content.created_at + LIFETIME,
        ttl_remaining=max(0, int(story.ttl_s)),
        seen=story.is_seen,
        reply_enabled=story.replies_enabled,
        viewer_reaction=story.reaction,
        viewer_is_author=is_own,
        is_hidden=story.is_hidden,
        view_count=story.view_count if is_own else None,
        reaction_count=story.reaction_count if is_own else None,
    )


def show_tray(tray: Tray, context: ViewContext) -> TrayView:
    """The tray, with what to load ahead."""
    shown = {
        str(author): [show_story(story, context) for story in stories]
        for author, stories in tray.stories.items()
    }
    others = [str(ring.author.account.id) for ring in tray.rings if not ring.author.relation.is_self]
    first = [_first_unseen(shown[author]) for author in others[:FULL_AUTHORS] if author in shown]
    prefetch = PrefetchView(
        others[FULL_AUTHORS : FULL_AUTHORS + PREFETCHED_AUTHORS],
        [story.media_url for story in first if story],
    )
    return TrayView([_show_ring(ring, context) for ring in tray.rings], shown, prefetch)


def show_account_stories(
    author: VisibleAccount, stories: Sequence[Story], context: ViewContext
) -> AccountStoriesView:
    """Somebody's stories, and where a viewer should start."""
    unseen = (index for index, story in enumerate(stories) if not story.is_seen)
    return AccountStoriesView(
        *astuple(show_author(author.account)),
        stories=[show_story(story, context) for story in stories],
        starts_at=next(unseen, 0),
    )


def show_viewers(view_count: int, page: Page[StoryViewer], context: ViewContext) -> StoryViewersView:
    """A page of those who saw a story."""
    viewers = [
        StoryViewerView(
            *astuple(show_person(view.viewer)),
            reaction=view.reaction,
            choice=view.choice,
            seen_at=context.layout.id_time(view.change_id),
        )
        for view in page.items
    ]
    return StoryViewersView(view_count, viewers, *next_page(page.next_before))


def show_answers(page: Page[StoryAnswer]) -> StoryAnswersView:
    """A page of answers to a story's question."""
    answers = [StoryAnswerView(*astuple(show_person(each.viewer)), text=each.text) for each in page.items]
    return StoryAnswersView(answers, *next_page(page.next_before))


def _show_ring(ring: Ring, context: ViewContext) -> RingView:
    return RingView(
        *astuple(show_author(ring.author.account)),
        is_self=ring.author.relation.is_self,
        has_unseen=bool(ring.unseen_ids),
        is_close_friends=ring.is_close_friends,
        latest_story_ts=context.layout.id_time(ring.story_ids[-1]),
        story_count=len(ring.story_ids),
        unseen_count=len(ring.unseen_ids),
    )


def _first_unseen(stories: Sequence[StoryView]) -> StoryView | None:
    unseen = [story for story in stories if not story.seen]
    return next(iter([*unseen, *stories]), None)
