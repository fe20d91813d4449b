"""Enters the replicas that the settings name into the shard map, from which routers know them."""

import asyncio
import time
from urllib.parse import urlsplit

from shardwright.errors import ShardwrightError
from shardwright.topology import Directory
from tintype.base.router_addresses import router_dsns
from tintype.base.settings import Settings, as_migrator, directory_dsn, replica_dsns

WAIT_S = 30.0
_POLL_S = 0.25
_DEFAULT_PORT = 5432


async def enter_replicas(settings: Settings, *, wait_s: float = WAIT_S) -> dict[str, str]:
    """Make the map's replicas those of the settings; returns the addresses of those left out, with the reason."""
    migrator = as_migrator(settings)
    directory = await Directory.open(directory_dsn(migrator), dsns=router_dsns(migrator))
    try:
        return await apply_replicas(directory, settings, wait_s=wait_s)
    finally:
        await directory.close()


async def apply_replicas(
    directory: Directory, settings: Settings, *, wait_s: float = WAIT_S
) -> dict[str, str]:
    """Add new replicas to the map once they follow, and remove those that the settings no longer name.

    One that does not answer in time is left out: nothing depends on it, and the next run adds it. Returns the addresses
    of those, with the reason.
    """
    wanted = {name: [_address(dsn) for dsn in dsns] for name, dsns in replica_dsns(settings).items()}
    deadline = time.monotonic() + wait_s
    left_out: dict[str, str] = {}
    for name, server in (await directory.load()).servers.items():
        for address in server.replicas:
            if address not in wanted.get(name, ()):
                await directory.remove_replica(name, address)
        for address in wanted.get(name, ()):
            if address not in server.replicas:
                reason = await _add(directory, name, address, deadline)
                if reason:
                    left_out[address] = reason
    return left_out


async def _add(directory: Directory, server: str, address: str, deadline: float) -> str:
    """Add a replica, or return why not; a new one may still be copying its server, or be a moment behind it."""
    while True:
        try:
            await directory.add_replica(server, address)
        except (ShardwrightError, OSError) as error:
            if time.monotonic() > deadline:
                return str(error)
            await asyncio.sleep(_POLL_S)
        else:
            return ""


def _address(dsn: str) -> str:
    """Host and port: user, password and database are those of the server itself."""
    parts = urlsplit(dsn)
    host = parts.hostname or "localhost"
    return (
        f"[{host}]:{parts.port or _DEFAULT_PORT}" if ":" in host else f"{host}:{parts.port or _DEFAULT_PORT}"
    )
