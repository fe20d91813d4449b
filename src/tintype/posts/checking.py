"""Whether what somebody wants to post is in order: everything that can be said before a shard is asked."""

import math
from collections.abc import Iterable, Sequence

from tintype.base.ids import AccountId
from tintype.posts.errors import (
    AltTextInvalid,
    CaptionTooLong,
    MediaInvalid,
    PlaceInvalid,
    TagsInvalid,
)
from tintype.posts.models import (
    LONGEST_ALT_TEXT,
    LONGEST_CAPTION,
    LONGEST_PLACE_ID,
    LONGEST_PLACE_NAME,
    MOST_MEDIA,
    MOST_TAGGED,
    Draft,
    Item,
    Place,
    Tagged,
)
from tintype.posts.words import clean


def check_draft(draft: Draft) -> Draft:
    """The draft with its texts cleaned, or a refusal that says what is wrong."""
    media_ids = [item.media_id for item in draft.items]
    if not 1 <= len(media_ids) <= MOST_MEDIA or len(set(media_ids)) != len(media_ids):
        raise MediaInvalid
    check_tagged(each.account_id for item in draft.items for each in item.tagged)
    return Draft(
        items=tuple(
            Item(item.media_id, check_alt_text(item.alt_text), check_tags(item.tagged))
            for item in draft.items
        ),
        caption=check_caption(draft.caption),
        place=check_place(draft.place),
        comments_enabled=draft.comments_enabled,
        hides_like_count=draft.hides_like_count,
    )


def check_caption(text: str) -> str:
    """A caption without white space around it, counted in code points."""
    caption = clean(text)
    if len(caption) > LONGEST_CAPTION:
        raise CaptionTooLong
    return caption


def check_alt_text(text: str) -> str:
    """What a picture shows, in words."""
    alt_text = clean(text)
    if len(alt_text) > LONGEST_ALT_TEXT:
        raise AltTextInvalid
    return alt_text


def check_place(place: Place | None) -> Place | None:
    """A place that makes sense, or none."""
    if place is None:
        return None
    place_id, name = clean(place.id), clean(place.name)
    if not 0 < len(place_id) <= LONGEST_PLACE_ID or not 0 < len(name) <= LONGEST_PLACE_NAME:
        raise PlaceInvalid
    if (place.lat is None) != (place.lon is None):
        raise PlaceInvalid
    if place.lat is not None and place.lon is not None and not _is_on_earth(place.lat, place.lon):
        raise PlaceInvalid
    return Place(place_id, name, place.lat, place.lon)


def check_tags(tagged: Sequence[Tagged]) -> tuple[Tagged, ...]:
    """Tags inside the picture, each person once."""
    people = {each.account_id for each in tagged}
    if len(people) != len(tagged) or not all(_is_inside(each.x) and _is_inside(each.y) for each in tagged):
        raise TagsInvalid
    return tuple(tagged)


def check_tagged(people: Iterable[AccountId]) -> None:
    """Not too many people in one post."""
    if len(set(people)) > MOST_TAGGED:
        raise TagsInvalid


def _is_inside(part: float) -> bool:
    return math.isfinite(part) and 0 <= part <= 1


def _is_on_earth(lat: float, lon: float) -> bool:
    return math.isfinite(lat) and math.isfinite(lon) and abs(lat) <= 90 and abs(lon) <= 180  # noqa: PLR2004 - degrees
