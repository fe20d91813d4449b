"""Errors of the Django integration."""

from django.db import OperationalError

from shardwright.errors import NotOwner


class ShardMoved(NotOwner, OperationalError):
    """The shard was moved to another server during a transaction: nothing was changed, repeat the transaction."""
