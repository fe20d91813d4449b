"""Reads the addresses that settings may hold: one host or several, ports, IPv6, sockets; never shows a password.

PostgreSQL's addresses name several hosts in one URL (`postgresql://user:password@db1:5432,db2:5433/name`, or
`postgresql:///name?host=/run/a,/run/b&port=5432,5433`), which the standard library's parser refuses: it takes
everything after the first colon for one port. NATS's may lack their scheme (`nats1:4222`).
"""

from urllib.parse import parse_qsl, unquote

from shardwright.topology import split_url

_LOCAL = "localhost"


def without_secrets(address: str) -> str:
    """The part of an address that may be shown: every host with its port, no user, no password."""
    return ",".join(list_hosts(address))


def list_hosts(address: str) -> tuple[str, ...]:
    """The hosts of an address as they may be shown, in their order: `db1:5432`, `[::1]:5432`, `/run/postgresql`."""
    if "://" not in address:
        address = f"//{address}"
    parts = split_url(address)
    named = parts.netloc.rpartition("@")[2]
    if named:
        return tuple(unquote(host) or _LOCAL for host in named.split(","))
    query = dict(parse_qsl(parts.query))
    hosts = query.get("host", "").split(",")
    if hosts == [""]:
        return (parts.path if parts.scheme == "unix" else _LOCAL,)
    return tuple(
        f"{host}:{port}" if port else host
        for host, port in zip(hosts, _ports(query, len(hosts)), strict=True)
    )


def _ports(query: dict[str, str], count: int) -> list[str]:
    """A port for each host of a query: each may have its own, all may share one, or none is given."""
    ports = query.get("port", "").split(",")
    return ports if len(ports) == count else [ports[0]] * count
