"""What a picture or clip looks like to the rest of the house."""

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
    """One picture or clip, and the folder its files lie in."""

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


class Wish(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an uploader asks for besides the file."""

    kind: MediaKind = "post"
    keep_location: bool = False
    edit: msgspec.Raw = msgspec.Raw(b"null")
    """An edit as JSON, understood by the pipeline that applies it."""


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """An upload under way; everything before `received_bytes` is safe."""

    id: MediaId
    account_id: AccountId
    size_bytes: int
    received_bytes: int
    parts: list[str]
    wish: str
    metadata: str
    is_direct: bool
    is_finished: bool
    expires_at: datetime


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """The little that serving a file needs to know about the media it belongs to."""

    folder: str
    state: MediaState
    kind: MediaKind
    tier: Tier
    ends_at: datetime | None
    is_private: bool
