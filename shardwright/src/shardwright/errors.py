"""The ways shardwright says no.

Every error raised on purpose derives from `ShardwrightError`, so that a caller can tell a refusal of the
library from a fault of the driver or of PostgreSQL.
"""


class ShardwrightError(Exception):
    """Something the library refuses or cannot do; the message says what to do about it."""


class InvalidId(ShardwrightError, ValueError):
    """That number or text is not an id of this layout."""


class EpochInvalid(ShardwrightError, ValueError):
    """That epoch would make ids collide with legacy ids or run out."""


class ServerUnavailable(ShardwrightError):
    """A server does not answer, or answered too often with a failure to be asked again yet."""


class MapChanged(ShardwrightError):
    """Somebody else changed the shard map first: load it again and decide anew."""


class NotOwner(ShardwrightError):
    """The server that was asked does not own the shard, even after the map was refreshed."""


class ShardKeyMissing(ShardwrightError):
    """A statement names no shard: give a key, or say `everywhere()` and mean it."""


class MigrationRefused(ShardwrightError):
    """A migration cannot be applied as it is; nothing of it was applied on the shard named."""


class SetupInvalid(ShardwrightError):
    """The way it was configured or called cannot work."""
