"""Photos and videos: in a post or story, and as their owner sees an upload."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import astuple

from tintype.accounts import Account
from tintype.api.views.context import ViewContext
from tintype.base.ids import AccountId, MediaId
from tintype.media import Media, MediaState, MediaType, MediaUrls, Presigned
from tintype.posts import PersonTag, PostMedia
from tintype.stories import Mention
from tintype.wiring import Rooms


class TaggedView(msgspec.Struct, frozen=True):
    """Somebody in a picture; `x` and `y` are fractions of its width and height."""

    account_id: str
    username: str
    x: float
    y: float


class MediaFilesView(msgspec.Struct, frozen=True):
    """A picture or video and the URLs of its files. A video that is being converted has no `video_url` yet."""

    media_id: str
    type: MediaType
    state: MediaState
    urls: dict[str, str]
    squares: dict[str, str]
    video_url: str | None
    hls_url: str | None
    width: int
    height: int
    duration_ms: int | None
    placeholder: str | None


class MediaView(MediaFilesView, frozen=True):
    """One picture or video of a post or story. Until a video is converted, only its poster is there."""

    url: str
    alt_text: str
    tagged: list[TaggedView]


class UploadedView(MediaFilesView, frozen=True):
    """A picture or video as its owner sees it; one that is not posted is deleted at `expires_at`."""

    progress: int
    error: str | None
    expires_at: datetime | None


class PresignedView(msgspec.Struct, frozen=True):
    """Send the file there with these headers, then complete the upload."""

    media_id: str
    upload: Presigned
    expires_at: datetime


def show_media(
    media: PostMedia, context: ViewContext, *, signed: bool, people: Mapping[AccountId, Account] | None = None
) -> MediaView:
    """A picture or video; of those tagged in it, the ones among `people`. Signed where its author is private."""
    files = _show_files(media.media_id, media, context.urls, signed=signed)
    return MediaView(
        *astuple(files),
        url=files.urls["1080"],
        alt_text=media.alt_text,
        tagged=show_tagged(media.tagged, people or {}),
    )


async def show_uploaded(media: Media, rooms: Rooms) -> UploadedView:
    """An upload for its owner, whose private account needs signed URLs too."""
    signed = await rooms.media.is_private(media.account_id)
    return UploadedView(
        *astuple(_show_files(media.id, media, rooms.media.urls, signed=signed)),
        progress=media.progress,
        error=media.error or None,
        expires_at=media.expires_at,
    )


def _show_files(
    media_id: MediaId, media: Media | PostMedia, urls: MediaUrls, *, signed: bool
) -> MediaFilesView:
    folder, is_playable = media.folder, media.type == "video" and media.state == "ready"
    return MediaFilesView(
        media_id=str(media_id),
        type=media.type,
        state=media.state,
        urls=urls.photo_urls(folder, signed=signed),
        squares=urls.square_urls(folder, signed=signed),
        video_url=urls.video_url(folder, signed=signed) if is_playable else None,
        hls_url=urls.playlist_url(folder, signed=signed) if is_playable and media.has_hls else None,
        width=media.width,
        height=media.height,
        duration_ms=media.duration_ms,
        placeholder=media.placeholder,
    )


def show_tagged(
    tags: Sequence[PersonTag] | Sequence[Mention], people: Mapping[AccountId, Account]
) -> list[TaggedView]:
    """Those tagged or mentioned in a picture who are among `people`: the ones the viewer may know of."""
    return [
        TaggedView(str(tag.account_id), people[tag.account_id].username, tag.x, tag.y)
        for tag in tags
        if tag.account_id in people
    ]
