"""Addresses of streaming replicas: how one is reached, and whether what answers there is a copy of its server."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlunsplit

import asyncpg

from shardwright.errors import SetupInvalid
from shardwright.topology.connections import ANY_HOST, fetch_rows, open_connection
from shardwright.topology.host_list import split_url

if TYPE_CHECKING:
    from asyncpg import Record

    from shardwright.topology.shard_map import Server

DEFAULT_PORT = "5432"
_IDENTITY = """\
SELECT server_name, pg_is_in_recovery() AS is_standby,
  (SELECT system_identifier FROM pg_control_system()) AS cluster
FROM shardwright.identity, shardwright.replication
"""
# The database, the role or the tables are not there yet.
_NOT_REPLAYED = (
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InsufficientPrivilegeError,
    asyncpg.UndefinedTableError,
)
_ADVICE = (
    "server {} lacks SQL of this release, or its replica has not replayed it yet: run `shardwright upgrade`, or try "
    "again"
)


def replica_dsn(primary_dsn: str, address: str) -> str:
    """The DSN of a replica: its address, or for `host:port` alone the primary's DSN with that host and port.

    A directory in place of the host (`/run/postgresql:5433`) leads to the socket that is there.
    """
    if "://" in address or "=" in address:
        return address
    host, port = _host_and_port(address)
    if "://" not in primary_dsn:
        kept = [
            word for word in primary_dsn.split() if word.partition("=")[0] not in ("host", "hostaddr", "port")
        ]
        return " ".join([*kept, f"host={host}", f"port={port}"])
    parts = split_url(primary_dsn)
    kept_query = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("host", "port")]
    user, at, _ = parts.netloc.rpartition("@")
    if host.startswith("/"):
        return urlunsplit(
            parts._replace(
                netloc=f"{user}{at}", query=urlencode([*kept_query, ("host", host), ("port", port)])
            )
        )
    shown = f"[{host}]" if ":" in host else quote(host)
    return urlunsplit(parts._replace(netloc=f"{user}{at}{shown}:{port}", query=urlencode(kept_query)))


def _host_and_port(address: str) -> tuple[str, str]:
    host, colon, port = address.rpartition(":")
    if address.startswith("["):  # an IPv6 address, with or without a port
        host, _, rest = address[1:].partition("]")
        port = rest.removeprefix(":") or DEFAULT_PORT
    elif not colon:
        host, port = address, DEFAULT_PORT
    if not host or not port.isdecimal():
        raise SetupInvalid(f"that is no address of a replica: {address!r}; give host:port, or a DSN")
    return host, port


async def check_replica(server: "Server", address: str) -> None:
    """Raise unless a copy of the server answers at the address: the same cluster, as a standby."""
    primary = await _identify(server, server.dsn)
    replica = await _identify(server, replica_dsn(server.dsn, address))
    if (replica["server_name"], replica["cluster"]) != (server.name, primary["cluster"]):
        raise SetupInvalid(
            f"what answers at that address is server {replica['server_name']}, not a copy of {server.name}"
        )
    if not (replica["is_standby"] or primary["is_standby"]):
        raise SetupInvalid(
            f"what answers at that address is the primary of server {server.name}, or was one: give a standby"
        )


async def _identify(server: "Server", dsn: str) -> "Record":
    try:
        conn = await open_connection(dsn, f"a replica of server {server.name}", target=ANY_HOST)
        try:
            found = await fetch_rows(conn, _IDENTITY)
        finally:
            await conn.close()
    except _NOT_REPLAYED as error:
        raise SetupInvalid(f"{_ADVICE.format(server.name)} ({error})") from error
    if not found:
        raise SetupInvalid(_ADVICE.format(server.name))
    return found[0]
