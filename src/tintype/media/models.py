"""Frozen types of the media room."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec

from tintype.base.ids import AccountId, MediaId
from tintype.media.metadata.models import Removed

SIZES = (1080, 640, 320, 150)
MediaType = Literal["image", "video", "audio"]
MediaState = Literal["processing", "ready", "failed", "lost", "deleted"]
MediaKind = Literal["post", "avatar", "story", "voice"]
Tier = Literal["hot", "warm", "cold"]
TIERS: tuple[Tier, ...] = ("hot", "warm", "cold")
Publication = Literal["unposted", "shown", "close_friends", "direct", "withheld", "removed"]
"""What has become of media: an upload that waits; shown in a post, story or highlight, to all who may see its author's
content or to close friends; sent in a message; archived or hidden, and so for the author alone; deleted, expired or
ended.
"""
Audience = Literal["everybody", "viewers", "owner", "moderators"]
"""For whom the URL of a file is made. Only the one for everybody is not signed."""


class Media(msgspec.Struct, frozen=True, kw_only=True):
    """One photo, video or voice message: its row, and the folder of its files in the object stores."""

    id: MediaId
    account_id: AccountId
    folder: str
    type: MediaType = "image"
    state: MediaState = "ready"
    kind: MediaKind = "post"
    tier: Tier = "hot"
    width: int
    height: int
    placeholder: str | None = None
    duration_ms: int | None = None
    has_hls: bool = False
    progress: int = 100
    error: str = ""
    keeps_location: bool = False
    removed: Sequence[Removed] | None = ()
    """What the stored original does not have any more; None for one that an earlier release stored."""
    edit: str | None = None
    """The edit that its sizes were made with, as JSON; None for none."""
    large_width: int | None = None
    """How wide the largest rendition of the original may be, 0 for none; None where its edit is not known."""
    camera: str | None = None
    """`Camera` as JSON; None where the photo does not say, or was uploaded before that was read."""
    waveform: bytes | None = None
    """The peaks of a voice message, 0 to 255."""
    post_id: int | None = None
    expires_at: datetime | None = None
    ends_at: datetime | None = None


class ResumableUpload(msgspec.Struct, frozen=True, kw_only=True):
    """An upload in progress; everything before `received_bytes` is safe."""

    id: MediaId
    account_id: AccountId
    size_bytes: int
    received_bytes: int
    parts: list[str]
    options: str
    """`UploadOptions` as JSON."""
    metadata: str
    is_direct: bool
    is_finished: bool
    expires_at: datetime


class AccessRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What serving a file needs to know about the media it belongs to, besides their account."""

    folder: str
    state: MediaState
    tier: Tier
    publication: Publication
    ends_at: datetime | None
    """When an upload expires, or the story that shows the media ends."""
