"""Shards that are not in the map yet: `manage.py add_shards` migrates them before anybody can use them."""

from collections.abc import Generator
from contextlib import contextmanager

from shardwright.topology import Server

_servers: dict[int, Server] = {}


def pending_server(number: int) -> Server | None:
    """The server of a shard that is being added; None for all others."""
    return _servers.get(number) if _servers else None


@contextmanager
def adding_shard(number: int, server: Server) -> Generator[None]:
    """Let the shard's alias lead to the server while the block runs, in all threads."""
    _servers[number] = server
    try:
        yield
    finally:
        del _servers[number]
