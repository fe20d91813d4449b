"""How routers sign in to PostgreSQL servers: those of the settings, and those that were added since."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from shardwright.topology import ANY_OTHER
from tintype.base.settings import Settings, server_dsns


def router_dsns(settings: Settings) -> dict[str, str]:
    """The addresses of the servers by name, and how to sign in to servers that are not among them yet."""
    return with_login(server_dsns(settings))


def with_login(named: Mapping[str, str]) -> dict[str, str]:
    """These addresses, and for servers that are added while the process runs the user and password that all have.

    Their own addresses are in the shard map, without a password: a role has the same one on every server.
    """
    logins = {urlsplit(dsn).netloc.rpartition("@")[0] for dsn in named.values()}
    return {**named, ANY_OTHER: f"postgresql://{logins.pop()}@"} if len(logins) == 1 else dict(named)
