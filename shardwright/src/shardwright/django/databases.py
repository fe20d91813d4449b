"""Django's table of databases, extended by an alias for every shard in the map.

There may be thousands. They are made when they are used, and listed only while a connection of this thread leads to
them, so that what Django does to every connection at the end of a request stays short.
"""

from collections.abc import Iterator
from typing import Any

from django.db import connections

from shardwright.django.aliases import is_shard
from shardwright.django.backend.server_connections import connected_aliases
from shardwright.django.conf import database_settings


class Databases(dict[str, Any]):
    """DATABASES, with the shards."""

    def __missing__(self, alias: str) -> dict[str, Any]:
        if not is_shard(alias):
            raise KeyError(alias)
        return database_settings(alias)

    def __contains__(self, alias: object) -> bool:
        return super().__contains__(alias) or is_shard(alias)

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        yield from connected_aliases()


def install() -> None:
    """Let `django.db.connections` know the shards."""
    if not isinstance(connections.settings, Databases):
        connections.settings = Databases(connections.settings)
