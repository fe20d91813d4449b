"""The client of a request: the network that its rate limits apply to, and a name for its device.

X-Forwarded-For is trusted only from proxies in the networks that the settings name: any client can send that header.
Its addresses are read from the right, because each proxy appends the one it saw; the first that is not a trusted proxy
is the client.

This machine itself has no rate limits (the demo, load tests, an operator's scripts), but only where nothing says that a
proxy stands in front: behind a proxy that sends no header, everybody would be this machine.
"""

import ipaddress
import re
from functools import lru_cache
from typing import Any

from litestar import Request

from tintype.accounts import Caller
from tintype.base.settings import Settings

DEVICE_COOKIE = "tt_device"
IPV6_NETWORK = 64
MAX_HEADER_LENGTH = 2_000
UNKNOWN = ipaddress.IPv4Address(0)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
FORWARDING_HEADERS = (
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "forwarded",
    "via",
)
NO_PROXY = Settings().trusted_proxies
BROWSERS = (
    ("Firefox", r"Firefox/|FxiOS/"),
    ("Edge", r"Edg(?:e|A|iOS)?/"),
    ("Opera", r"OPR/|Opera"),
    ("Samsung Internet", r"SamsungBrowser/"),
    ("Chrome", r"Chrome/|CriOS/|Chromium/"),
    ("Safari", r"Safari/"),
)
SYSTEMS = (
    ("iPhone", r"iPhone"),
    ("iPad", r"iPad"),
    ("Android", r"Android"),
    ("Windows", r"Windows"),
    ("macOS", r"Mac OS X|Macintosh"),
    ("ChromeOS", r"CrOS"),
    ("Linux", r"Linux"),
)


def client_of(request: Request[Any, Any, Any], settings: Settings) -> Caller:
    """The network, the device name and the device cookie of a request."""
    return Caller(
        network=network_of(
            _address(request, settings.trusted_proxies), is_proxied=is_proxied(request, settings)
        ),
        device=device_name(request.headers.get("user-agent", "")),
        device_token=request.cookies.get(DEVICE_COOKIE, "")[:200],
    )


def is_proxied(request: Request[Any, Any, Any], settings: Settings) -> bool:
    """Whether a proxy stands in front: the settings name one or its address, or the request went through one."""
    return is_proxy_configured(settings) or any(request.headers.get(each) for each in FORWARDING_HEADERS)


def is_proxy_configured(settings: Settings) -> bool:
    """Whether the settings say that a proxy stands in front."""
    return bool(settings.public_url) or settings.trusted_proxies != NO_PROXY


def is_trusted_proxy(host: str, settings: Settings) -> bool:
    """Whether an address is that of a proxy that the settings trust."""
    address = _parse(host)
    return address is not None and any(address in network for network in _networks(settings.trusted_proxies))


def forwarded_network(scope: Any, settings: Settings) -> str:
    """The network of the client that a trusted proxy forwards a request for; empty for every other request."""
    client = scope.get("client")
    is_forwarded = any(name == b"x-forwarded-for" for name, _ in scope["headers"])
    if not (is_forwarded and client and is_trusted_proxy(str(client[0]), settings)):
        return ""
    request: Request[Any, Any, Any] = Request(scope)
    return network_of(_address(request, settings.trusted_proxies), is_proxied=True)


def network_of(address: Address | None, *, is_proxied: bool) -> str:
    """The network that a rate limit counts together: one IPv4 address, or an IPv6 /64, as one household has.

    Empty, so never limited, for this machine itself where there is no proxy.
    """
    if address is None or address.is_loopback:
        return str(address or UNKNOWN) if is_proxied else ""
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, IPV6_NETWORK), strict=False))
    return str(address)


def device_name(agent: str) -> str:
    """A name that the device's owner recognises, such as "Firefox on Linux"."""
    agent = agent[:MAX_HEADER_LENGTH]
    browser, system = _first(BROWSERS, agent), _first(SYSTEMS, agent)
    if browser and system:
        return f"{browser} on {system}"
    program = re.match(r"[\w. -]{1,40}", agent)
    return browser or system or (program.group().strip() if program else "")


def _address(request: Request[Any, Any, Any], trusted: tuple[str, ...]) -> Address | None:
    found = _parse(request.client.host if request.client else "")
    hops = ",".join(request.headers.getall("x-forwarded-for", []))[-MAX_HEADER_LENGTH:].split(",")
    while found is not None and any(hops) and any(found in network for network in _networks(trusted)):
        # Unreadable addresses share one count, so that they are no way around the rate limits.
        found = _parse(_without_port(hops.pop().strip())) or UNKNOWN
    return found


def _without_port(text: str) -> str:
    """Some proxies add the port: 192.0.2.1:4711, [2001:db8::1]:4711."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def _parse(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=8)
def _networks(trusted: tuple[str, ...]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(each, strict=False) for each in trusted)


def _first(table: tuple[tuple[str, str], ...], agent: str) -> str:
    return next((name for name, pattern in table if re.search(pattern, agent)), "")
