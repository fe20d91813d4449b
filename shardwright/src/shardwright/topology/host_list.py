"""Addresses that name several hosts, a server and its standbys: `postgresql://app@db1,db2:5433/app`."""

import re
from urllib.parse import SplitResult, parse_qsl, urlencode, urlunsplit

# RFC 3986, appendix B.
_URL = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


def split_url(url: str) -> SplitResult:
    """The parts of an address. `urlsplit` of newer releases of Python refuses an IPv6 address among several hosts."""
    return SplitResult(*_URL.findall(url)[0])  # which fits every text


def split_hosts(dsn: str) -> tuple[str, ...]:
    """The same address once per host that it names, in their order; an address with one host stays as it is.

    Hosts are named before the path, or as PostgreSQL's parameters `host` and `port` (`?host=/run/a,/run/b&port=1,2`).
    """
    parts = split_url(dsn)
    if "://" not in dsn:
        return (dsn,)
    user, at, hosts = parts.netloc.rpartition("@")
    if hosts:
        found = [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]
        return tuple(dict.fromkeys(found)) if len(found) > 1 else (dsn,)
    parameters = dict(parse_qsl(parts.query))
    named = parameters.pop("host", "").split(",")
    if len(named) == 1:
        return (dsn,)
    ports = parameters.pop("port", "").split(",")
    ports = ports * len(named) if len(ports) == 1 else ports
    queries = [
        urlencode([*parameters.items(), ("host", host), *([("port", port)] if port else [])])
        for host, port in zip(named, ports, strict=False)
    ]
    return tuple(dict.fromkeys(f"{dsn.partition('?')[0]}?{query}" for query in queries))
