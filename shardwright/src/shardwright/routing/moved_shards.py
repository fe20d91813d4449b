"""Errors by which a server that has an old copy of a shard, or none, refuses its reads: the owner is another one.

A router hears of a move within milliseconds, and may have missed it. The old copy is fenced: what names its tables is
refused, and what finds them by the search path does not find them. The same errors mean that a privilege, a table or a
function is missing, so the map and the server are asked which it is. Whatever was refused did not happen.
"""

import contextlib
from time import monotonic
from typing import TYPE_CHECKING, Protocol

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.topology import SQLSTATE_NOT_OWNER

if TYPE_CHECKING:
    from shardwright.routing.server_client import ServerClient

_FIRST_PAUSE_S = 0.03  # the new owner is told to routers mostly within this
_MAX_PAUSE_S = 0.25
MAY_HAVE_MOVED = (
    asyncpg.InsufficientPrivilegeError,
    asyncpg.InvalidSchemaNameError,
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedObjectError,
)


def may_have_moved(error: BaseException) -> bool:
    """Whether a server has refused a statement because it does not own the shard, or perhaps because of that."""
    return getattr(error, "sqlstate", None) == SQLSTATE_NOT_OWNER or isinstance(error, MAY_HAVE_MOVED)


class _Router(Protocol):
    def server_for(self, number: int) -> "ServerClient": ...
    async def refresh(self) -> None: ...
    async def wait_for_map(self, timeout_s: float) -> None: ...


async def is_elsewhere(router: _Router, server: "ServerClient", number: int) -> bool:
    """Whether the shard has moved from this server, or is about to; the map is loaded again."""
    with contextlib.suppress(ServerUnavailable):  # the directory: the map may still be right
        await router.refresh()
    return router.server_for(number) is not server or await server.is_fenced(number)


async def wait_for_owner(router: _Router, server: "ServerClient", number: int, ends_at: float) -> bool:
    """After a refusal of this server: whether by then a server owns the shard again, be it the same one."""
    pause_s = _FIRST_PAUSE_S
    while router.server_for(number) is server and await _may_be_fenced(server, number):
        left_s = ends_at - monotonic()
        if left_s <= 0:
            return False
        await router.wait_for_map(min(pause_s, left_s))
        pause_s = min(pause_s * 2, _MAX_PAUSE_S)
        with contextlib.suppress(ServerUnavailable):  # the directory: a notification may come
            await router.refresh()
    return monotonic() < ends_at


async def _may_be_fenced(server: "ServerClient", number: int) -> bool:
    """A server that was lost since it refused something was fenced then; its shard may be given to another one."""
    try:
        return await server.is_fenced(number)
    except (ServerUnavailable, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return True
