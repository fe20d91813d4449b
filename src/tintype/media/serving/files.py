"""Finds the file behind a path below /media/: whether it may be opened, how long it may be cached, where it lies."""

import contextlib
import hashlib
import re
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tintype.accounts import Account
from tintype.base.ids import LARGEST_ID, AccountId, MediaId
from tintype.graph import visibility_rules
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound
from tintype.media.events import ColdMediaRead
from tintype.media.models import TIERS, AccessRecord, Audience, Media, Tier
from tintype.media.serving.edge_purge import account_tag, folder_tag
from tintype.media.serving.signed_urls import DOWNLOAD
from tintype.media.storage.object_storage import ObjectStream

PATH = re.compile(
    r"(?:~(?P<ends>[0-9]{1,12})\.(?P<signature>[A-Za-z0-9_-]{24})/)?"
    r"(?P<folder>(?P<account>[1-9][0-9]{0,18})/(?P<media>[1-9][0-9]{0,18})-[A-Za-z0-9_-]{16})"
    r"/(?P<name>original|[a-z0-9_]{1,40}\.(?P<ending>jpg|webp|avif|mp4|m4a|m3u8|m4s|ts))",
    re.ASCII,
)
CONTENT_TYPES = {
    "jpg": "image/jpeg",
    "webp": "image/webp",
    "avif": "image/avif",
    "mp4": "video/mp4",
    "m4a": "audio/mp4",
    "m3u8": "application/vnd.apple.mpegurl",
    "m4s": "video/iso.segment",
    "ts": "video/mp2t",
}
PREVIEW = "preview.jpg"
"""The picture of a link preview: a JPEG whatever the Accept header says, made when it is first asked for."""
AVATAR_S = 3_600
"""An avatar is replaced under another URL, and the one before is to disappear."""
AS_OWNER = "private, no-cache"
"""A file that opened because its owner asked for it: the same URL must not open for whoever uses the browser next."""
NEVER_CACHED = "private, no-store"
WARM_ONCE_IN_S = 3_600


@dataclass(frozen=True)
class MediaFile:
    """A file that may be opened, and how others may cache it."""

    path: str
    tier: Tier
    media_id: MediaId
    media_type: str
    cache_control: str
    modified_at: datetime
    is_negotiated: bool
    tags: tuple[str, ...] = ()
    """By which an edge cache can be told to drop the file; none where no edge cache is purged."""
    download_name: str | None = None
    """Under which name a browser is to store the file, instead of showing it."""

    @property
    def etag(self) -> str:
        """A digest of the path: a path never comes to mean other bytes, whichever store they lie in."""
        return f'"{hashlib.sha256(self.path.encode()).hexdigest()[:24]}"'


class MediaFiles:
    """Files as they are served. A file that may not be opened is reported as not found."""

    def __init__(self, dependencies: MediaDependencies) -> None:
        self._shards, self._outbox, self._storage = (
            dependencies.shards,
            dependencies.outbox,
            dependencies.storage,
        )
        self._accounts = dependencies.accounts
        self._access, self._reads, self._urls = dependencies.access, dependencies.reads, dependencies.urls
        self._has_edge = dependencies.edge.is_configured
        self._browser_s, self._edge_s = (
            dependencies.settings.media_browser_cache_s,
            dependencies.settings.media_edge_cache_s,
        )

    async def find(self, path: str, *, reader: AccountId | None = None) -> MediaFile:
        """The file at a path below /media/, if it exists and the request may open it.

        What a request may open follows from the signature in its path; `reader` is the account that it authenticated
        as, which may open its own files without one.
        """
        named = PATH.fullmatch(path)
        if named is None or max(int(named["account"]), int(named["media"])) > LARGEST_ID:
            raise MediaNotFound
        account_id, media_id = AccountId(int(named["account"])), MediaId(int(named["media"]))
        folder, ends = named["folder"], int(named["ends"] or 0)
        if reader not in {None, account_id}:
            raise MediaNotFound
        found = await self._access.find(media_id, account_id)
        if found is None or found[0].folder != folder:
            raise MediaNotFound
        record, account = found
        audience = self._audience_of(named, reader)
        if audience is None or not may_open(record, account, audience):
            raise MediaNotFound
        if named["name"] == DOWNLOAD:
            return self._download(folder, record, media_id, account, audience)
        tags = (folder_tag(folder), account_tag(account_id)) if self._has_edge else ()
        return MediaFile(
            path=f"{folder}/{named['name']}",
            tier=record.tier,
            media_id=media_id,
            media_type=CONTENT_TYPES[named["ending"]],
            cache_control=AS_OWNER if reader else self._cache_control(record, account, audience, ends),
            modified_at=self._shards.map.layout.id_time(media_id).replace(microsecond=0),
            is_negotiated=named["ending"] == "jpg" and named["name"] != PREVIEW,
            tags=tags,
        )

    def _download(
        self, folder: str, record: AccessRecord, media_id: MediaId, account: Account, audience: Audience
    ) -> MediaFile:
        """What others may download, if the author allows it; nobody caches it, so that it ends when the author says."""
        if not (account.allows_downloads or audience == "owner"):
            raise MediaNotFound
        return MediaFile(
            path=f"{folder}/{DOWNLOAD}",
            tier=record.tier,
            media_id=media_id,
            media_type="application/octet-stream",
            cache_control=NEVER_CACHED,
            modified_at=self._shards.map.layout.id_time(media_id).replace(microsecond=0),
            is_negotiated=False,
            download_name=f"{account.username}-{media_id}",
        )

    async def choose_audience(self, media: Media) -> Audience:
        """For whom to sign URLs of media that their owner asks for, as they are shown now.

        `MediaNotFound` where not even the owner may open them: they were deleted with their post, or have ended.
        """
        record = await self._access.load(media.id)
        account = await self._accounts.get(media.account_id, with_counts=False)
        if record is None or not is_kept(record):
            raise MediaNotFound
        if record.publication == "withheld":
            return "owner"
        return "viewers" if needs_signature(record, account) else "everybody"

    async def locate(self, file: MediaFile) -> tuple[MediaFile, int]:
        """The file with the tier it was found in, and its size; it may be on its way to another store."""
        for tier in self._storage.search_order(file.tier):
            with contextlib.suppress(MediaNotFound):
                return replace(file, tier=tier), await self._storage.size_of(file.path, tier=tier)
        raise MediaNotFound

    async def open(self, file: MediaFile, part: tuple[int, int] | None = None) -> ObjectStream:
        """The bytes, from whichever store has them; a read from the cold store asks for the move to the warm one."""
        for tier in self._storage.search_order(file.tier):
            try:
                opened = await self._storage.open(file.path, tier=tier, part=part)
            except MediaNotFound:
                continue  # it is on its way to another store: look there
            await self._record_read(file.media_id, tier)
            return opened
        raise MediaNotFound

    async def _record_read(self, media_id: MediaId, tier: Tier) -> None:
        is_cold = tier == TIERS[-1] and tier in self._storage.tiers
        await self._reads.count(media_id, always=is_cold)
        if is_cold and await self._reads.is_first_within("warming", media_id, seconds=WARM_ONCE_IN_S):
            async with self._shards.owner(media_id).begin() as tx:
                await self._outbox.add(tx, ColdMediaRead(media_id))

    def _audience_of(self, named: re.Match[str], reader: AccountId | None) -> Audience | None:
        """For whom the request's URL was made; its owner needs none. None if its signature is not valid."""
        if reader is not None:
            return "owner"
        if named["signature"] is None:
            return "everybody"
        return self._urls.find_audience(named["folder"], int(named["ends"]), named["signature"])

    def _cache_control(self, record: AccessRecord, account: Account, audience: Audience, ends: int) -> str:
        """Long in browsers and short at the edge, for as long as the file may be opened by this URL at most."""
        if audience == "moderators":
            return NEVER_CACHED
        limits = [AVATAR_S if record.folder == account.avatar_folder else self._browser_s]
        if record.ends_at is not None:
            limits.append(int((record.ends_at - datetime.now(UTC)).total_seconds()))
        if audience != "everybody":
            limits.append(ends - int(time.time()))
        seconds = max(0, min(limits))
        if audience != "everybody":
            return f"private, max-age={seconds}"
        return f"public, max-age={seconds}, s-maxage={min(seconds, self._edge_s)}"


def needs_signature(record: AccessRecord, account: Account) -> bool:
    """Whether a file is opened by a signed URL only."""
    return visibility_rules.needs_signature(
        is_avatar=record.folder == account.avatar_folder,
        is_private=account.is_private,
        is_for_close_friends=record.publication == "close_friends",
        is_unposted=record.publication in {"unposted", "direct"},
    )


def is_kept(record: AccessRecord) -> bool:
    """Whether the media still exist for their owner."""
    return record.publication != "removed"


def may_open(record: AccessRecord, account: Account, audience: Audience) -> bool:
    """Whether a request may open a file by a URL that was made for this audience."""
    return visibility_rules.may_open_file(
        is_available=record.state in {"ready", "processing"},
        is_active=account.is_active,
        is_kept=is_kept(record),
        is_withheld=record.publication == "withheld",
        needs_signature=needs_signature(record, account),
        has_signature=audience != "everybody",
        is_owner=audience == "owner",
        is_moderator=audience == "moderators",
    )
