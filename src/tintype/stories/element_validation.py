"""Which elements a story may have: bounds of each, how many of a kind, and how many bytes in all."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import replace

from tintype.base.text import clean_line, clean_text
from tintype.stories.elements import (
    Countdown,
    Drawing,
    Element,
    PlaceSticker,
    Poll,
    PostSticker,
    Question,
    TextElement,
    decode_elements,
    encode_elements,
)
from tintype.stories.errors import ElementsInvalid

MAX_ELEMENTS = 40
MAX_ELEMENTS_BYTES = 65_536
"""Of their JSON. A drawing of some minutes is 20 KB; every viewer loads it with the story."""
LONGEST_COUNTDOWN = timedelta(days=90)
ONE_OF_A_KIND = (Drawing, PostSticker, Poll, Question, Countdown)


def check_elements(elements: Sequence[Element], now: datetime | None = None) -> tuple[Element, ...]:
    """The elements with their texts cleaned, or `ElementsInvalid`."""
    try:
        cleaned = decode_elements(encode_elements([_clean(each) for each in elements]))
    except msgspec.ValidationError as error:
        raise ElementsInvalid from error
    if len(cleaned) > MAX_ELEMENTS or len(encode_elements(cleaned).encode()) > MAX_ELEMENTS_BYTES:
        raise ElementsInvalid
    counts = Counter(type(each) for each in cleaned)
    if any(counts[kind] > 1 for kind in ONE_OF_A_KIND):
        raise ElementsInvalid
    if not all(_is_sound(each, now or datetime.now(UTC)) for each in cleaned):
        raise ElementsInvalid
    return cleaned


def _clean(element: Element) -> Element:
    match element:
        case TextElement():
            return replace(element, text=clean_text(element.text))
        case PlaceSticker():
            return replace(element, place_id=clean_text(element.place_id), name=clean_line(element.name))
        case Poll():
            choices = [clean_line(each) for each in element.choices]
            return replace(element, question=clean_line(element.question), choices=choices)
        case Question():
            return replace(element, prompt=clean_line(element.prompt))
        case Countdown():
            return replace(element, title=clean_line(element.title))
        case _:
            return element


def _is_sound(element: Element, now: datetime) -> bool:
    """What the types cannot say: points come in pairs, choices differ, a countdown ends within its limit."""
    match element:
        case Drawing():
            return all(len(stroke.points) % 2 == 0 for stroke in element.strokes)
        case Poll():
            return len(set(element.choices)) == len(element.choices)
        case Countdown():
            return now < element.ends_at <= now + LONGEST_COUNTDOWN
        case _:
            return True
