"""What lies over the picture of a story: texts, a drawing, and stickers that viewers can tap.

Elements are placed on a canvas of 9 by 16 that holds the whole picture in its middle, so that they are shown at the
same place on every screen. Positions are fractions of the canvas's width and height, sizes are relative to its width,
and the order of the list is the order in depth: later elements cover earlier ones. The types carry all bounds; what
they cannot say is checked by `element_validation.py`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, TypeVar

import msgspec

from tintype.base.ids import AccountId, PostId

Part = Annotated[float, msgspec.Meta(ge=0, le=1, description="A fraction of the width or height.")]
Colour = Annotated[str, msgspec.Meta(pattern="^#[0-9a-f]{6}$", examples=["#f4f0e9"])]
Tone = Literal["light", "dark", "brass"]
"""The colours of a sticker's plate."""
Coordinate = Annotated[int, msgspec.Meta(ge=0, le=10_000)]

MAX_STROKES, MAX_STROKE_NUMBERS = 300, 1_000
LONGEST_ELEMENT_TEXT, LONGEST_PROMPT, LONGEST_CHOICE, LONGEST_COUNTDOWN_TITLE = 300, 100, 40, 60
LONGEST_ANSWER = 300


class Placement(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """Where the middle of an element is on the canvas, and how it is turned (clockwise) and enlarged."""

    x: Part = 0.5
    y: Part = 0.5
    rotation: Annotated[float, msgspec.Meta(ge=-180, le=180, description="Degrees, clockwise.")] = 0.0
    scale: Annotated[float, msgspec.Meta(ge=0.25, le=4)] = 1.0


class TextElement(Placement, frozen=True, kw_only=True, tag="text", forbid_unknown_fields=True):
    """Words on the picture."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_ELEMENT_TEXT)]
    font: Literal["plain", "serif", "rounded", "mono", "poster"] = "plain"
    colour: Colour = "#ffffff"
    align: Literal["start", "center", "end"] = "center"
    plate: Literal["none", "solid", "soft"] = "none"


class Stroke(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a drawing, through points given as x and y in turn, in ten-thousandths of the canvas."""

    colour: Colour
    width: Annotated[float, msgspec.Meta(ge=0.002, le=0.1, description="A fraction of the canvas's width.")]
    points: Annotated[list[Coordinate], msgspec.Meta(min_length=2, max_length=MAX_STROKE_NUMBERS)]


class Drawing(msgspec.Struct, frozen=True, tag_field="type", tag="drawing", forbid_unknown_fields=True):
    """Lines drawn by hand over the whole canvas."""

    strokes: Annotated[list[Stroke], msgspec.Meta(min_length=1, max_length=MAX_STROKES)]


class PlaceSticker(Placement, frozen=True, kw_only=True, tag="place", forbid_unknown_fields=True):
    """A place, which leads to its page."""

    place_id: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    tone: Tone = "light"


class MentionSticker(Placement, frozen=True, kw_only=True, tag="mention", forbid_unknown_fields=True):
    """An account that is mentioned."""

    account_id: AccountId
    tone: Tone = "light"


class PostSticker(Placement, frozen=True, kw_only=True, tag="post", forbid_unknown_fields=True):
    """Somebody's post as a card; who may see the post is judged whenever the story is read."""

    post_id: PostId


class Poll(Placement, frozen=True, kw_only=True, tag="poll", forbid_unknown_fields=True):
    """A question with two to four choices, of which a viewer takes one."""

    question: Annotated[str, msgspec.Meta(max_length=LONGEST_PROMPT)] = ""
    choices: Annotated[
        list[Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_CHOICE)]],
        msgspec.Meta(min_length=2, max_length=4),
    ]


class Question(Placement, frozen=True, kw_only=True, tag="question", forbid_unknown_fields=True):
    """A question that viewers answer in their own words; the author alone reads the answers."""

    prompt: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_PROMPT)]


class Countdown(Placement, frozen=True, kw_only=True, tag="countdown", forbid_unknown_fields=True):
    """The time until something; viewers can ask to be notified at its end."""

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_COUNTDOWN_TITLE)]
    ends_at: Annotated[datetime, msgspec.Meta(tz=True)]


Element = TextElement | Drawing | PlaceSticker | MentionSticker | PostSticker | Poll | Question | Countdown
Kind = TypeVar("Kind", bound=Element)


def encode_elements(elements: Sequence[Element]) -> str:
    """The JSON that the `elements` column holds."""
    return msgspec.json.encode(elements).decode()


def decode_elements(text: str | bytes) -> tuple[Element, ...]:
    """The elements that the JSON of an `elements` column holds."""
    return msgspec.json.decode(text, type=tuple[Element, ...]) if len(text) > len("[]") else ()


def find_element(elements: Sequence[Element], kind: type[Kind]) -> Kind | None:
    """The element of this kind, of which a story has one at most."""
    return next((each for each in elements if isinstance(each, kind)), None)


def mentioned_ids(elements: Sequence[Element]) -> tuple[AccountId, ...]:
    """The accounts that mention stickers name."""
    return tuple(each.account_id for each in elements if isinstance(each, MentionSticker))


def shared_post_ids(elements: Sequence[Element]) -> tuple[PostId, ...]:
    """The posts that cards show."""
    return tuple(each.post_id for each in elements if isinstance(each, PostSticker))


def words_of(elements: Sequence[Element]) -> list[str]:
    """Everything that the author wrote on the story, for moderators."""
    words: list[str] = []
    for each in elements:
        match each:
            case TextElement():
                words.append(each.text)
            case Poll():
                words += [each.question, *each.choices]
            case Question():
                words.append(each.prompt)
            case Countdown():
                words.append(each.title)
            case PlaceSticker():
                words.append(each.name)
            case _:
                pass
    return [each for each in words if each]
