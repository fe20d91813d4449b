"""The request bodies to publish and edit a post, and their translation for the posts room.

Lengths are limited here only to refuse huge bodies early; the room has the exact rules.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from tintype.api.http.dependencies import parse_account_id, parse_media_id
from tintype.base.ids import IdText, MediaId
from tintype.posts import (
    PersonTag,
    Place,
    PostChanges,
    PostDraft,
    PostMediaChanges,
    TagsInvalid,
    make_draft,
)

Text = Annotated[str, msgspec.Meta(max_length=10_000)]
ShortText = Annotated[str, msgspec.Meta(max_length=500)]


class NewTag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody in one of the photos; `x` and `y` are fractions of its width and height."""

    media_id: IdText
    account_id: IdText
    x: float
    y: float


class PhotoTag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody in this photo."""

    account_id: IdText
    x: float
    y: float


class PostPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a post was made."""

    place_id: ShortText
    name: ShortText
    lat: float | None = None
    lon: float | None = None


class NewPost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A post to publish. `alt_texts` are in the order of the photos."""

    media_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=10)]
    caption: Text = ""
    alt_texts: Annotated[list[Text], msgspec.Meta(max_length=10)] = []
    tagged: Annotated[list[NewTag], msgspec.Meta(max_length=200)] = []
    place: PostPlace | None = None
    comments_enabled: bool = True
    hides_like_count: bool = False
    shows_camera: bool | None = None
    """Whether camera, lens and exposure are shown; by default as the account's setting says."""


class PhotoEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Changes to one photo; `tagged` replaces all its tags."""

    media_id: IdText
    alt_text: Text | msgspec.UnsetType = msgspec.UNSET
    tagged: Annotated[list[PhotoTag], msgspec.Meta(max_length=200)] | msgspec.UnsetType = msgspec.UNSET


class PostEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Changes to a post; what is left out stays. A place of null removes it."""

    caption: Text | msgspec.UnsetType = msgspec.UNSET
    media: Annotated[list[PhotoEdit], msgspec.Meta(max_length=10)] = []
    place: PostPlace | msgspec.UnsetType | None = msgspec.UNSET
    comments_enabled: bool | msgspec.UnsetType = msgspec.UNSET
    hides_like_count: bool | msgspec.UnsetType = msgspec.UNSET
    shows_camera: bool | msgspec.UnsetType = msgspec.UNSET


def make_post_draft(body: NewPost) -> PostDraft:
    """A valid draft from the body of a request."""
    media_ids = [parse_media_id(each) for each in body.media_ids]
    return make_draft(
        media_ids,
        body.alt_texts,
        read_tags(media_ids, body.tagged),
        caption=body.caption,
        place=read_place(body.place),
        comments_enabled=body.comments_enabled,
        hides_like_count=body.hides_like_count,
        shows_camera=msgspec.UNSET if body.shows_camera is None else body.shows_camera,
    )


def read_tags(media_ids: Sequence[MediaId], tags: Sequence[NewTag]) -> list[list[PersonTag]]:
    """Tags by photo, in the order of the photos."""
    by_photo: dict[MediaId, list[PersonTag]] = {media_id: [] for media_id in media_ids}
    for tag in tags:
        photo = by_photo.get(parse_media_id(tag.media_id))
        if photo is None:
            raise TagsInvalid("A tag names a photo that is not part of the post.")
        photo.append(PersonTag(parse_account_id(tag.account_id), tag.x, tag.y))
    return [by_photo[media_id] for media_id in media_ids]


def read_place(body: PostPlace | None) -> Place | None:
    """The place for the posts room."""
    return Place(body.place_id, body.name, body.lat, body.lon) if body else None


def read_edit(body: PostEdit) -> PostChanges:
    """The changes for the posts room."""
    return PostChanges(
        caption=body.caption,
        media=tuple(_read_photo(each) for each in body.media),
        place=msgspec.UNSET if body.place is msgspec.UNSET else read_place(body.place),
        comments_enabled=body.comments_enabled,
        hides_like_count=body.hides_like_count,
        shows_camera=body.shows_camera,
    )


def _read_photo(body: PhotoEdit) -> PostMediaChanges:
    tagged = (
        msgspec.UNSET
        if body.tagged is msgspec.UNSET
        else tuple(PersonTag(parse_account_id(each.account_id), each.x, each.y) for each in body.tagged)
    )
    return PostMediaChanges(media_id=parse_media_id(body.media_id), alt_text=body.alt_text, tagged=tagged)
