"""What clients send to publish or edit a post, and how it reaches the room.

Lengths are bounded here only so far that nothing huge is read; the room says precisely what it takes.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from tintype.api.given import id_from
from tintype.base.ids import AccountId, IdText, MediaId
from tintype.posts import Edit, ItemEdit, Place, Tagged, TagsInvalid

Text = Annotated[str, msgspec.Meta(max_length=10_000)]
ShortText = Annotated[str, msgspec.Meta(max_length=500)]


class NewTag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody in one of the photos; `x` and `y` are fractions of its width and height."""

    media_id: IdText
    user_id: IdText
    x: float
    y: float


class TagBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody in this photo."""

    user_id: IdText
    x: float
    y: float


class PlaceBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where it was."""

    place_id: ShortText
    name: ShortText
    lat: float | None = None
    lon: float | None = None


class NewPost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to publish. `alt_texts` go with the photos in their order."""

    media_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=10)]
    caption: Text = ""
    alt_texts: Annotated[list[Text], msgspec.Meta(max_length=10)] = []
    tagged: Annotated[list[NewTag], msgspec.Meta(max_length=200)] = []
    place: PlaceBody | None = None
    comments_enabled: bool = True
    hides_like_count: bool = False


class PhotoEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What changes about one photo; `tagged` replaces everybody in it."""

    media_id: IdText
    alt_text: Text | msgspec.UnsetType = msgspec.UNSET
    tagged: Annotated[list[TagBody], msgspec.Meta(max_length=200)] | msgspec.UnsetType = msgspec.UNSET


class PostEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What changes about a post; what is left out stays. A place of null removes it."""

    caption: Text | msgspec.UnsetType = msgspec.UNSET
    media: Annotated[list[PhotoEdit], msgspec.Meta(max_length=10)] = []
    place: PlaceBody | msgspec.UnsetType | None = msgspec.UNSET
    comments_enabled: bool | msgspec.UnsetType = msgspec.UNSET
    hides_like_count: bool | msgspec.UnsetType = msgspec.UNSET


def read_tags(media_ids: Sequence[MediaId], tags: Sequence[NewTag]) -> list[list[Tagged]]:
    """Tags by photo, in the order of the photos."""
    by_photo: dict[MediaId, list[Tagged]] = {media_id: [] for media_id in media_ids}
    for tag in tags:
        photo = by_photo.get(MediaId(id_from(tag.media_id)))
        if photo is None:
            raise TagsInvalid("A tag names a photo that is not part of the post.")
        photo.append(Tagged(AccountId(id_from(tag.user_id)), tag.x, tag.y))
    return [by_photo[media_id] for media_id in media_ids]


def read_place(body: PlaceBody | None) -> Place | None:
    """The place as the room knows it."""
    return Place(body.place_id, body.name, body.lat, body.lon) if body else None


def read_edit(body: PostEdit) -> Edit:
    """The edit as the room knows it."""
    return Edit(
        caption=body.caption,
        items=tuple(_read_photo(each) for each in body.media),
        place=msgspec.UNSET if body.place is msgspec.UNSET else read_place(body.place),
        comments_enabled=body.comments_enabled,
        hides_like_count=body.hides_like_count,
    )


def _read_photo(body: PhotoEdit) -> ItemEdit:
    tagged = (
        msgspec.UNSET
        if body.tagged is msgspec.UNSET
        else tuple(Tagged(AccountId(id_from(each.user_id)), each.x, each.y) for each in body.tagged)
    )
    return ItemEdit(media_id=MediaId(id_from(body.media_id)), alt_text=body.alt_text, tagged=tagged)
