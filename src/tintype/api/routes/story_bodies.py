"""What clients send to publish a story and to take part in one."""

from typing import Annotated

import msgspec

from tintype.api.http.dependencies import parse_account_id, parse_media_id, parse_post_id
from tintype.base.ids import IdText
from tintype.stories import (
    Countdown,
    Drawing,
    Element,
    Mention,
    MentionSticker,
    NewStory,
    Placement,
    PlaceSticker,
    Poll,
    PostSticker,
    Question,
    StoryAudience,
    TextElement,
    Tone,
)

Part = Annotated[float, msgspec.Meta(ge=0, le=1, description="A fraction of the width or height.")]


class NewMention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody to mention in a story, and where in the picture."""

    account_id: IdText
    x: Part
    y: Part


class NewMentionSticker(Placement, frozen=True, kw_only=True, tag="mention", forbid_unknown_fields=True):
    """Somebody to mention with a sticker."""

    account_id: IdText
    tone: Tone = "light"


class NewPostSticker(Placement, frozen=True, kw_only=True, tag="post", forbid_unknown_fields=True):
    """A post to show as a card."""

    post_id: IdText


NewElement = (
    TextElement | Drawing | PlaceSticker | NewMentionSticker | NewPostSticker | Poll | Question | Countdown
)


class StoryDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A story to publish. Elements lie on a canvas of 9 by 16 that holds the whole picture in its middle."""

    media_id: IdText
    audience: StoryAudience = "everyone"
    text: Annotated[str, msgspec.Meta(max_length=2_000, description="At most 500 characters.")] = ""
    alt_text: Annotated[str, msgspec.Meta(max_length=5_000, description="At most 1,000 characters.")] = ""
    replies_enabled: bool = True
    mentions: Annotated[list[NewMention], msgspec.Meta(max_length=20)] = []
    elements: Annotated[
        list[NewElement],
        msgspec.Meta(max_length=40, description="At most 64 KB; later elements cover earlier ones."),
    ] = []


class NewVote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the choices of a poll, counted from 0."""

    choice: Annotated[int, msgspec.Meta(ge=0, le=3)]


class NewAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer to a story's question."""

    text: Annotated[str, msgspec.Meta(max_length=2_000, description="1 to 300 characters.")]


def read_story(data: StoryDraft) -> NewStory:
    """The story that a body describes."""
    return NewStory(
        media_id=parse_media_id(data.media_id),
        audience=data.audience,
        text=data.text,
        alt_text=data.alt_text,
        mentions=tuple(Mention(parse_account_id(one.account_id), one.x, one.y) for one in data.mentions),
        replies_enabled=data.replies_enabled,
        elements=tuple(_read_element(each) for each in data.elements),
    )


def _read_element(element: NewElement) -> Element:
    if isinstance(element, NewMentionSticker):
        return MentionSticker(
            account_id=parse_account_id(element.account_id), tone=element.tone, **_placed(element)
        )
    if isinstance(element, NewPostSticker):
        return PostSticker(post_id=parse_post_id(element.post_id), **_placed(element))
    return element


def _placed(element: Placement) -> dict[str, float]:
    return {"x": element.x, "y": element.y, "rotation": element.rotation, "scale": element.scale}
