"""What a backup consists of, as its manifest lists it."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from tintype.backup.encryption import Encryption

FORMAT = 1
Report = Callable[[str, int, int], None]
"""Called as work goes on, with what is copied, how much is done and how much there is, if known (else 0)."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The first file of a place of backups: its format, and how it is encrypted."""

    format: int = FORMAT
    encryption: Encryption | None = None


class StoredObject(msgspec.Struct, frozen=True):
    """An object of a backup: its name there, and the size and checksum of its content."""

    name: str
    size_bytes: int
    sha256: str


class StoredMedia(msgspec.Struct, frozen=True):
    """A media file: where it belongs, and the object that has its content, which several backups share."""

    tier: str
    path: str
    stored: StoredObject


class ServerCopy(msgspec.Struct, frozen=True, kw_only=True):
    """One PostgreSQL server: a base backup, and the WAL from its beginning to the moment it is restored to."""

    number: int
    """Its place among the servers, from 1: `pg1` is restored to `postgres-1`."""
    major: int
    """The major version of PostgreSQL, which alone can open it."""
    database: str
    """The name of the database that has the shards."""
    base: StoredObject
    wal: list[StoredObject]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """One backup. It is written last: a backup without it does not exist."""

    id: str
    version: str
    """The release of Tintype that made it."""
    began_at: datetime
    restore_point: str
    """The name, in the WAL of every server, of the moment that it is restored to."""
    restored_to: datetime
    """That moment, by the clock of the machine that made the backup."""
    is_one_moment: bool
    """Whether no event was being written on any server at that moment; otherwise the servers are milliseconds apart."""
    servers: list[ServerCopy]
    secrets: StoredObject
    has_media: bool
    media: list[StoredObject]
    """Lists of the media files."""
    media_files: int
    media_bytes: int
    new_files: int
    """How many of them this backup copied; the others were there from earlier ones."""
    new_bytes: int

    @property
    def objects(self) -> list[StoredObject]:
        """Everything that is in this backup alone."""
        servers = [stored for each in self.servers for stored in (each.base, *each.wal)]
        return [*servers, self.secrets, *self.media]

    @property
    def database_bytes(self) -> int:
        """How large its databases are when restored."""
        return sum(stored.size_bytes for each in self.servers for stored in (each.base, *each.wal))
