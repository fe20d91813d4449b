"""Sends browsers on this machine from the IP address to `localhost`: passkeys are bound to a name, never to an address.

Only guests are sent on: a session's cookie belongs to the host it was made for.
"""

from typing import Any
from urllib.parse import urlsplit

from litestar import Request, Response
from litestar.status_codes import HTTP_307_TEMPORARY_REDIRECT

from tintype.base.settings import Settings, site_url

LOOPBACK = frozenset({"127.0.0.1", "::1"})
ANY_HOST = "0.0.0.0"  # noqa: S104 - compared with, not bound to


def redirect_to_localhost(request: Request[Any, Any, Any], settings: Settings) -> Response[str] | None:
    """The redirect of a guest who opened a page at a loopback address while the site's own name is `localhost`."""
    is_page = (
        request.headers.get("sec-fetch-mode") == "navigate"
        and request.headers.get("sec-fetch-dest") == "document"
    )
    host = urlsplit(f"//{request.headers.get('host', '')}")
    is_local_site = urlsplit(site_url(settings)).hostname in {*LOOPBACK, ANY_HOST, "localhost"}
    if not is_page or not is_local_site or host.hostname not in LOOPBACK:
        return None
    query = f"?{query}" if (query := request.scope["query_string"].decode("latin-1")) else ""
    path = request.scope["raw_path"].decode("latin-1").partition("?")[0]
    port = f":{host.port}" if host.port else ""
    return Response(
        "",
        status_code=HTTP_307_TEMPORARY_REDIRECT,
        headers={"Location": f"http://localhost{port}{path}{query}", "Cache-Control": "no-store"},
    )
