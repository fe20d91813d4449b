"""Photos and videos: in a post or story, and as their owner sees an upload."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import astuple

from tintype.accounts import Account
from tintype.api.views.context import ViewContext
from tintype.base.ids import AccountId, MediaId
from tintype.graph import visibility_rules
from tintype.media import Audience, Camera, Media, MediaState, MediaType, MediaUrls, Presigned, Removed
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
    """A picture, video or voice message and the URLs of its files.

    A video that is being converted has no `video_url` yet.
    """

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
    download_url: str | None
    """The photo as it was uploaded, or as it was edited, where its author allows that."""
    alt_text: str
    tagged: list[TaggedView]
    camera: Camera | None = None
    """Camera, lens and exposure, where its author shows them."""


class UploadedView(MediaFilesView, frozen=True):
    """A picture or video as its owner sees it; one that is not posted is deleted at `expires_at`.

    `removed` lists what the stored original does not have any more unless `keep_location` was set: its `location`,
    other `metadata`, `attachments` (images and clips inside of it); or `original`, when it could not be kept without
    its location.
    """

    progress: int
    error: str | None
    expires_at: datetime | None
    removed: list[Removed]
    voice_url: str | None
    """The sound of a voice message."""
    waveform: list[int] | None
    """The peaks of a voice message, 0 to 255."""
    camera: Camera | None
    """What it was taken with; others see it only in posts that show it."""


class PresignedView(msgspec.Struct, frozen=True):
    """Send the file there with these headers, then complete the upload."""

    media_id: str
    upload: Presigned
    expires_at: datetime


def needs_signed_urls(author: Account, *, is_for_close_friends: bool = False) -> bool:
    """Whether the URLs of an author's photos and videos in posts and stories must be signed to be opened."""
    return visibility_rules.needs_signature(
        is_avatar=False,
        is_private=author.is_private,
        is_for_close_friends=is_for_close_friends,
        is_unposted=False,
    )


def link_audience(author: Account, *, is_withheld: bool, is_for_close_friends: bool = False) -> Audience:
    """For whom the URLs of an author's files are made, in what a viewer may see.

    What was archived or hidden is seen by its author alone; what needs a signature, by followers or close friends.
    """
    if is_withheld:
        return "owner"
    return "viewers" if needs_signed_urls(author, is_for_close_friends=is_for_close_friends) else "everybody"


def show_media(
    media: PostMedia,
    context: ViewContext,
    *,
    audience: Audience,
    people: Mapping[AccountId, Account] | None = None,
    may_download: bool = False,
) -> MediaView:
    """A picture or video with URLs for this audience; of those tagged in it, the ones among `people`."""
    has_download = may_download and media.type == "image" and media.state == "ready"
    files = _show_files(media.media_id, media, context.urls, audience=audience)
    return MediaView(
        *astuple(files),
        url=files.urls["1080"],
        download_url=context.urls.download_url(media.folder, audience=audience) if has_download else None,
        alt_text=media.alt_text,
        tagged=show_tagged(media.tagged, people or {}),
        camera=media.camera,
    )


async def show_uploaded(media: Media, rooms: Rooms) -> UploadedView:
    """An upload, or posted media, for their owner."""
    audience = await rooms.media.choose_audience(media)
    return UploadedView(
        *astuple(_show_files(media.id, media, rooms.media.urls, audience=audience)),
        progress=media.progress,
        error=media.error or None,
        expires_at=media.expires_at,
        removed=list(media.removed or ()),
        voice_url=rooms.media.urls.voice_url(media.folder, audience=audience)
        if media.type == "audio"
        else None,
        waveform=list(media.waveform) if media.waveform is not None else None,
        camera=msgspec.json.decode(media.camera, type=Camera) if media.camera else None,
    )


def _show_files(
    media_id: MediaId, media: Media | PostMedia, urls: MediaUrls, *, audience: Audience
) -> MediaFilesView:
    folder, is_playable = media.folder, media.type == "video" and media.state == "ready"
    has_pictures = media.type != "audio"
    return MediaFilesView(
        media_id=str(media_id),
        type=media.type,
        state=media.state,
        urls=urls.photo_urls(folder, audience=audience, large_width=media.large_width)
        if has_pictures
        else {},
        squares=urls.square_urls(folder, audience=audience) if has_pictures else {},
        video_url=urls.video_url(folder, audience=audience) if is_playable else None,
        hls_url=urls.playlist_url(folder, audience=audience) if is_playable and media.has_hls else None,
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
