"""Database aliases of shards, and which of them is in use.

A shard's alias is the name of its schema, `s0042`. It can be given wherever Django takes `using`.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from shardwright.django.conf import get_maps
from shardwright.django.pending_shards import pending_server
from shardwright.errors import InvalidId
from shardwright.ids import MAX_SHARDS, schema_name, shard_number

_current: ContextVar[str | None] = ContextVar("shardwright_shard", default=None)
_ALIAS = re.compile(r"s[0-9]{4}")


def is_alias(alias: str | None) -> bool:
    """Whether this could be a shard's alias."""
    return alias is not None and _ALIAS.fullmatch(alias) is not None and int(alias[1:]) < MAX_SHARDS


def is_shard(alias: object) -> bool:
    """Whether this is the alias of a shard in the map."""
    if not isinstance(alias, str) or not is_alias(alias):
        return False
    number = shard_number(alias)
    return pending_server(number) is not None or get_maps().has_shard(number)


def shard_of(id: int) -> str:  # noqa: A002 - an id is called an id
    """The alias of the shard that an id belongs to; raises `InvalidId` for a number that is no id of any shard."""
    alias = schema_name(get_maps().current().layout.id_shard(id))
    if not is_shard(alias):
        raise InvalidId(f"{id} is an id of shard {alias}, which does not exist")
    return alias


def shard_of_key(key: str | bytes) -> str:
    """The alias of the shard of a lookup key (a username, an email address), by hash; it never changes."""
    return schema_name(get_maps().current().lookup_shard(key))


def place_shard() -> str:
    """The alias of a shard for a new tenant, in proportion to the weights of servers and shards."""
    maps = get_maps()
    maps.current()
    return schema_name(maps.place())


def all_shards() -> list[str]:
    """The aliases of all shards, in order; for commands, not for requests."""
    return [schema_name(number) for number in sorted(get_maps().current().owners)]


def current_shard() -> str | None:
    """The alias chosen by the innermost `use_shard`, if there is one."""
    return _current.get()


@contextmanager
def use_shard(shard: str | int) -> Generator[str]:
    """Send queries of sharded models to this shard, given by alias or number, while the block runs.

    It may decorate a function, too. The choice follows the task or thread, into `sync_to_async` and back.
    """
    alias = schema_name(shard) if isinstance(shard, int) else shard
    shard_number(alias)  # refuses what is no alias
    token = _current.set(alias)
    try:
        yield alias
    finally:
        _current.reset(token)
