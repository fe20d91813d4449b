"""Requests that another site makes in somebody's browser: refused wherever cookies are read or set.

A browser says where a request comes from: `Sec-Fetch-Site` at secure addresses, `Origin` everywhere. Neither can be set
by a script. Programs send neither and are let through: a session cookie needs its CSRF token anyway. Signing in and
signing up are checked as well, since they set cookies: a site that could sign its visitors in to an account of its own
would collect what they upload there.
"""

from typing import Any
from urllib.parse import urlsplit

from litestar import Request
from litestar.enums import RequestEncodingType
from litestar.handlers import HTTPRouteHandler
from litestar.params import BodyKwarg

from tintype.base.errors import Forbidden, Invalid

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_SITES = frozenset({"same-origin", "none"})
"""`none` is a person's own doing, such as a bookmark. A sibling domain (`same-site`) is another site."""
DEFAULT_PORTS = {"http": 80, "https": 443}
JSON = "application/json"
TAKES_JSON = "tintype_takes_json"


class CrossSiteRequest(Forbidden):
    """That request came from another site. Behind a proxy, public_url has to be the address that people type."""

    code = "cross_site_request"


class JsonRequired(Invalid):
    """Send JSON, with the header Content-Type: application/json."""

    code = "json_required"


def check_site(request: Request[Any, Any, Any], public_url: str) -> None:
    """Refuse a request that changes something and that a page of another site made."""
    if request.method in SAFE_METHODS:
        return
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        if site.strip().lower() not in OWN_SITES:
            raise CrossSiteRequest(site=site[:40])
        return
    origin = request.headers.get("origin")
    if origin is None:
        return
    if not is_own_origin(origin, request.headers.get("host", ""), public_url):
        raise CrossSiteRequest(origin=origin[:200])


def is_own_origin(origin: str, host: str, public_url: str) -> bool:
    """Whether a page of this origin is one of ours: at the public address, or at the host that it asks for."""
    own = {_authority(public_url), _authority(f"{origin.partition(':')[0]}://{host}")}
    authority = _authority(origin)
    return authority is not None and authority in own


def check_media_type(request: Request[Any, Any, Any]) -> None:
    """Refuse a body that is not declared as JSON where a route takes JSON: forms of other sites cannot declare it."""
    if not _takes_json(request.route_handler):
        return
    declared = request.headers.get("content-type", "").partition(";")[0]
    if declared.strip().lower() != JSON:
        raise JsonRequired


def _takes_json(handler: HTTPRouteHandler) -> bool:
    known: bool | None = handler.opt.get(TAKES_JSON)
    if known is None:
        data = handler.parsed_fn_signature.parameters.get("data")
        body = data.kwarg_definition if data is not None else None
        known = isinstance(body, BodyKwarg) and body.media_type == RequestEncodingType.JSON
        handler.opt[TAKES_JSON] = known
    return known


def _authority(url: str) -> tuple[str, int] | None:
    """Host and port of a URL; None for one that has none, such as the origin `null`."""
    try:
        parts = urlsplit(url.strip().lower())
        port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port else None
