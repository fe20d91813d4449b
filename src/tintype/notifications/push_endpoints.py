"""Checks push endpoints against SSRF: anybody can submit one, so none may lead into our own network.

The name is resolved here, every address it has must be public, and the connection goes to the very address that was
checked, so that a name which resolves differently a moment later (DNS rebinding) gains nothing.
"""

import asyncio
import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from tintype.notifications.errors import SubscriptionInvalid

LONGEST_ENDPOINT = 1_000
HTTPS_PORT = 443


@dataclass(frozen=True)
class Destination:
    """A checked endpoint: the address to connect to, and the host name to present there."""

    url: str
    host: str
    origin: str


def check_endpoint(endpoint: str, *, may_be_internal: bool = False) -> SplitResult:
    """The parts of an acceptable endpoint URL, as far as that can be checked without DNS."""
    if len(endpoint) > LONGEST_ENDPOINT or not endpoint.isascii() or not endpoint.isprintable():
        raise SubscriptionInvalid
    try:
        parts = urlsplit(endpoint)
        port = parts.port or HTTPS_PORT
    except ValueError as error:
        raise SubscriptionInvalid from error
    is_named = bool(parts.hostname) and " " not in endpoint and "\\" not in endpoint
    if not is_named or parts.username is not None or parts.password is not None or parts.fragment:
        raise SubscriptionInvalid
    if may_be_internal:
        return parts
    if parts.scheme != "https" or port != HTTPS_PORT or _is_internal_literal(parts.hostname or ""):
        raise SubscriptionInvalid
    return parts


async def resolve(endpoint: str, *, may_be_internal: bool = False) -> Destination:
    """Resolve an endpoint; refused when any address of its name is not public."""
    parts = check_endpoint(endpoint, may_be_internal=may_be_internal)
    host, port = parts.hostname or "", parts.port or HTTPS_PORT
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(str(info[4][0]).split("%")[0]) for info in found]
    if not addresses or not (may_be_internal or all(map(is_public, addresses))):
        raise SubscriptionInvalid
    chosen = addresses[0]
    literal = f"[{chosen}]" if chosen.version == 6 else str(chosen)  # noqa: PLR2004 - IPv6
    named = parts._replace(netloc=f"{literal}:{port}")
    return Destination(named.geturl(), parts.netloc, f"{parts.scheme}://{parts.netloc}")


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is globally routable; an IPv6 address that embeds an IPv4 address is judged by that one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if inner:
            return is_public(inner)
        if address in ipaddress.ip_network("64:ff9b::/96"):
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return address.is_global and not address.is_multicast and not address.is_reserved


def _is_internal_literal(host: str) -> bool:
    try:
        return not is_public(ipaddress.ip_address(host))
    except ValueError:
        return host == "localhost" or "." not in host or host.endswith((".localhost", ".local", ".internal"))
