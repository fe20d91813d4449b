"""Validation of drafts and edits: everything that can be checked without reading a shard."""

import math
from collections.abc import Iterable, Sequence

import msgspec

from tintype.base.ids import AccountId, MediaId
from tintype.base.text import clean_line, clean_text
from tintype.posts.errors import (
    AltTextInvalid,
    CaptionTooLong,
    MediaInvalid,
    PlaceInvalid,
    TagsInvalid,
)
from tintype.posts.models import (
    MAX_ALT_TEXT_LENGTH,
    MAX_CAPTION_LENGTH,
    MAX_MEDIA,
    MAX_PLACE_ID_LENGTH,
    MAX_PLACE_NAME_LENGTH,
    MAX_TAGGED,
    DraftMedia,
    PersonTag,
    Place,
    PostChanges,
    PostDraft,
    PostMediaChanges,
)

UNSET = msgspec.UNSET


def make_draft(
    media_ids: Sequence[MediaId],
    alt_texts: Sequence[str],
    tagged: Sequence[Sequence[PersonTag]],
    *,
    caption: str,
    place: Place | None,
    comments_enabled: bool,
    hides_like_count: bool,
    shows_camera: bool | msgspec.UnsetType = UNSET,
) -> PostDraft:
    """A valid draft with its texts cleaned; alt texts and tags belong to the media in the same order."""
    if len(alt_texts) > len(media_ids):
        raise AltTextInvalid
    if len(tagged) > len(media_ids):
        raise TagsInvalid
    if not 1 <= len(media_ids) <= MAX_MEDIA or len(set(media_ids)) != len(media_ids):
        raise MediaInvalid
    check_tagged_count(each.account_id for people in tagged for each in people)
    return PostDraft(
        media=tuple(
            DraftMedia(
                media_id,
                check_alt_text(alt_texts[number]) if number < len(alt_texts) else "",
                check_tags(tagged[number]) if number < len(tagged) else (),
            )
            for number, media_id in enumerate(media_ids)
        ),
        caption=check_caption(caption),
        place=check_place(place),
        comments_enabled=comments_enabled,
        hides_like_count=hides_like_count,
        shows_camera=shows_camera,
    )


def check_edit(edit: PostChanges) -> PostChanges:
    """The edit with its texts cleaned, or a refusal that says what is wrong."""
    ids = [item.media_id for item in edit.media]
    if len(set(ids)) != len(ids):
        raise MediaInvalid("Name each photo once.")
    return msgspec.structs.replace(
        edit,
        caption=UNSET if edit.caption is UNSET else check_caption(edit.caption),
        place=UNSET if edit.place is UNSET else check_place(edit.place),
        media=tuple(_check_media_edit(item) for item in edit.media),
    )


def check_caption(text: str) -> str:
    """A caption without white space around it; its length is counted in code points."""
    caption = clean_text(text)
    if len(caption) > MAX_CAPTION_LENGTH:
        raise CaptionTooLong
    return caption


def check_alt_text(text: str) -> str:
    """The description of a photo for people who cannot see it, cleaned."""
    alt_text = clean_text(text)
    if len(alt_text) > MAX_ALT_TEXT_LENGTH:
        raise AltTextInvalid
    return alt_text


def check_place(place: Place | None) -> Place | None:
    """A place with an id, a name and either both coordinates or none."""
    if place is None:
        return None
    place_id, name = clean_text(place.id), clean_line(place.name)
    if not 0 < len(place_id) <= MAX_PLACE_ID_LENGTH or not 0 < len(name) <= MAX_PLACE_NAME_LENGTH:
        raise PlaceInvalid
    if (place.lat is None) != (place.lon is None):
        raise PlaceInvalid
    if place.lat is not None and place.lon is not None and not _is_on_earth(place.lat, place.lon):
        raise PlaceInvalid
    return Place(place_id, name, place.lat, place.lon)


def check_tags(tagged: Sequence[PersonTag]) -> tuple[PersonTag, ...]:
    """Tags of one photo: all inside it, each person once."""
    people = {each.account_id for each in tagged}
    if len(people) != len(tagged) or not all(_is_inside(each.x) and _is_inside(each.y) for each in tagged):
        raise TagsInvalid
    return tuple(tagged)


def check_tagged_count(people: Iterable[AccountId]) -> None:
    """Refuse more tagged people than one post may have."""
    if len(set(people)) > MAX_TAGGED:
        raise TagsInvalid


def _check_media_edit(item: PostMediaChanges) -> PostMediaChanges:
    return msgspec.structs.replace(
        item,
        alt_text=UNSET if item.alt_text is UNSET else check_alt_text(item.alt_text),
        tagged=UNSET if item.tagged is UNSET else check_tags(item.tagged),
    )


def _is_inside(fraction: float) -> bool:
    return math.isfinite(fraction) and 0 <= fraction <= 1


def _is_on_earth(lat: float, lon: float) -> bool:
    return math.isfinite(lat) and math.isfinite(lon) and abs(lat) <= 90 and abs(lon) <= 180  # noqa: PLR2004 - degrees
