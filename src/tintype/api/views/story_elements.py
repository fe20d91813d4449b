"""What lies over the picture of a story, as one viewer sees it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec
from msgspec.structs import asdict

from shardwright.ids import encode_short
from tintype.accounts import Account
from tintype.api.views.context import ViewContext
from tintype.api.views.media import link_audience, show_media
from tintype.api.views.people import avatar_url
from tintype.base.ids import AccountId
from tintype.stories import (
    Countdown,
    Drawing,
    Element,
    Highlight,
    HighlightItem,
    MentionSticker,
    Placement,
    PlaceSticker,
    Poll,
    PostSticker,
    Question,
    SharedPost,
    Story,
    Stroke,
    TextElement,
    Tone,
)

LONGEST_EXCERPT = 120


class PlacementView(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Where the middle of an element is on the canvas of 9 by 16, how it is turned (degrees) and enlarged."""

    x: float
    y: float
    rotation: float
    scale: float


class StoryTextView(PlacementView, frozen=True, kw_only=True, tag="text"):
    """Words on the picture."""

    text: str
    font: Literal["plain", "serif", "rounded", "mono", "poster"]
    colour: str
    align: Literal["start", "center", "end"]
    plate: Literal["none", "solid", "soft"]


class StoryDrawingView(msgspec.Struct, frozen=True, tag_field="type", tag="drawing"):
    """Lines drawn by hand over the whole canvas."""

    strokes: list[Stroke]


class StoryMentionView(PlacementView, frozen=True, kw_only=True, tag="mention"):
    """An account that is mentioned."""

    account_id: str
    username: str
    tone: Tone


class StoryPlaceView(PlacementView, frozen=True, kw_only=True, tag="place"):
    """A place, which leads to its page."""

    place_id: str
    name: str
    tone: Tone


class SharedPostView(msgspec.Struct, frozen=True):
    """A post on a card; `caption` is its beginning."""

    post_id: str
    code: str
    permalink: str
    username: str
    profile_pic_url: str | None
    image_url: str | None
    width: int
    height: int
    alt_text: str
    caption: str
    is_video: bool


class StoryPostView(PlacementView, frozen=True, kw_only=True, tag="post"):
    """Somebody's post as a card; null if the viewer may not see the post, or it is gone."""

    post: SharedPostView | None


class StoryPollView(PlacementView, frozen=True, kw_only=True, tag="poll"):
    """A poll; the counts are for those who have voted, for the author, and for everybody in a highlight."""

    question: str
    choices: list[str]
    counts: list[int] | None
    viewer_choice: int | None


class StoryQuestionView(PlacementView, frozen=True, kw_only=True, tag="question"):
    """A question that viewers answer in their own words."""

    prompt: str
    viewer_answer: str | None


class StoryCountdownView(PlacementView, frozen=True, kw_only=True, tag="countdown"):
    """The time until something."""

    title: str
    ends_at: datetime
    viewer_is_reminded: bool


StoryElementView = (
    StoryTextView
    | StoryDrawingView
    | StoryMentionView
    | StoryPlaceView
    | StoryPostView
    | StoryPollView
    | StoryQuestionView
    | StoryCountdownView
)


def show_elements(
    story: Story | HighlightItem,
    people: Mapping[AccountId, Account],
    shown_with: Story | Highlight,
    context: ViewContext,
) -> list[StoryElementView]:
    """The elements, in order; mentions of people whom the viewer may not see are left out."""
    shown = (_show(each, story, people, shown_with, context) for each in story.elements)
    return [each for each in shown if each is not None]


def _show(  # noqa: PLR0911 - one for each kind
    element: Element,
    story: Story | HighlightItem,
    people: Mapping[AccountId, Account],
    shown_with: Story | Highlight,
    context: ViewContext,
) -> StoryElementView | None:
    match element:
        case TextElement():
            return StoryTextView(**asdict(element))
        case Drawing():
            return StoryDrawingView(element.strokes)
        case PlaceSticker():
            return StoryPlaceView(**asdict(element))
        case MentionSticker():
            return _show_mention(element, people)
        case PostSticker():
            post = shown_with.posts.get(element.post_id)
            return StoryPostView(**_placed(element), post=_show_post(post, context) if post else None)
        case Poll():
            return _show_poll(element, story)
        case Question():
            answer = story.answer if isinstance(story, Story) else None
            return StoryQuestionView(**asdict(element), viewer_answer=answer)
        case Countdown():
            is_reminded = isinstance(story, Story) and story.is_reminded
            return StoryCountdownView(**asdict(element), viewer_is_reminded=is_reminded)


def _placed(element: Placement) -> dict[str, float]:
    return {"x": element.x, "y": element.y, "rotation": element.rotation, "scale": element.scale}


def _show_mention(element: MentionSticker, people: Mapping[AccountId, Account]) -> StoryMentionView | None:
    person = people.get(element.account_id)
    if person is None:
        return None
    return StoryMentionView(
        **_placed(element), account_id=str(person.id), username=person.username, tone=element.tone
    )


def _show_poll(element: Poll, story: Story | HighlightItem) -> StoryPollView:
    choice = story.choice if isinstance(story, Story) else None
    counts = None if story.poll_counts is None else list(story.poll_counts)
    return StoryPollView(**asdict(element), counts=counts, viewer_choice=choice)


def _show_post(shared: SharedPost, context: ViewContext) -> SharedPostView:
    post, author = shared.post, shared.author
    audience = link_audience(author, is_withheld=not post.is_shown)
    first = show_media(post.media[0], context, audience=audience) if post.media else None
    code = encode_short(post.id)
    return SharedPostView(
        post_id=str(post.id),
        code=code,
        permalink=f"/p/{code}",
        username=author.username,
        profile_pic_url=avatar_url(author),
        image_url=first.urls["640"] if first else None,
        width=first.width if first else 1,
        height=first.height if first else 1,
        alt_text=first.alt_text if first else "",
        caption=post.caption[:LONGEST_EXCERPT],
        is_video=first is not None and first.type == "video",
    )
