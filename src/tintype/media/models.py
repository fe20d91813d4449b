"""Frozen types of the media room."""

from datetime import datetime
from typing import Literal

import msgspec

from tintype.base.ids import AccountId, MediaId

SIZES = (1080, 640, 320, 150)
MediaType = Literal["image", "video"]
MediaState = Literal["processing", "ready", "failed", "lost", "deleted"]
MediaKind = Literal["post", "avatar", "story"]
Tier = Literal["hot", "warm", "cold"]
TIERS: tuple[Tier, ...] = ("hot", "warm", "cold")


class Media(msgspec.Struct, frozen=True, kw_only=True):
    """One photo or video: its row, and the folder of its files in the object stores."""

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
    """What serving a file needs to know about the media it belongs to."""

    folder: str
    state: MediaState
    kind: MediaKind
    tier: Tier
    ends_at: datetime | None
    is_private: bool
