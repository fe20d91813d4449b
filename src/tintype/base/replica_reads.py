"""Reads that a replica may answer: lists of ids within a request that only reads, never older than its client has seen.

What is listed is checked where it is shown: rows of posts and comments, accounts, follows and blocks are read at the
primary, or from the cache that writes invalidate. So a replica that lags can hide what is new from others for a moment,
but show nobody what is deleted, hidden, private or blocked by now. Nothing read from a replica is put into that cache.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from shardwright.routing import Reader, Session, Shards, session

_CURRENT: ContextVar[Session | None] = ContextVar("tintype_read_session", default=None)


@contextmanager
def reading_as(current: Session) -> Generator[None]:
    """Let replicas answer the reads of the block that ask for `replica_reader`, as far as this session allows."""
    before = _CURRENT.set(current)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def may_read_replicas() -> bool:
    """Whether `replica_reader` may ask a replica here: within `reading_as`."""
    return _CURRENT.get() is not None


def replica_reader(shards: Shards) -> Shards | Reader:
    """The router itself, or within `reading_as` its reading half, which may ask a replica."""
    current = _CURRENT.get()
    return shards if current is None else shards.read(session(current))
