"""How widening fails."""

from shardwright.errors import ShardwrightError


class WidenRefused(ShardwrightError):
    """These columns cannot be widened like this; nothing was changed."""


class WidenFailed(ShardwrightError):
    """Widening stopped; the table serves as before, and the same command goes on where it stopped."""
