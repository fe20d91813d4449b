"""The header Allow: every method of a path, of all the routes that share it, and HEAD wherever there is GET."""

from collections import defaultdict
from functools import lru_cache
from typing import Any

from litestar import Litestar
from litestar.datastructures import MutableScopeHeaders
from litestar.routes import HTTPRoute
from litestar.types import Message, Scope


def with_head(allowed: str) -> str:
    """A list of methods in alphabetical order, with HEAD if it has GET."""
    methods = {each.strip() for each in allowed.split(",") if each.strip()}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


async def complete_allow(message: Message, scope: Scope) -> None:
    """Name every method in the response to OPTIONS: the framework names those of one route of the path."""
    if message["type"] != "http.response.start" or scope["type"] != "http" or scope["method"] != "OPTIONS":
        return
    headers = MutableScopeHeaders.from_message(message)
    if "allow" in headers:
        template = scope.get("path_template", "")
        headers["allow"] = _methods_of(scope["litestar_app"]).get(template) or with_head(headers["allow"])


@lru_cache(maxsize=8)
def _methods_of(app: Litestar) -> dict[str, str]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            found[route.path_format].update(route.methods)
    return {path: with_head(",".join(methods)) for path, methods in found.items()}


def allow_header(headers: dict[str, Any]) -> dict[str, str]:
    """The headers of a 405, with the complete list of methods."""
    allowed = next((str(value) for name, value in headers.items() if name.lower() == "allow"), "")
    others = {name: str(value) for name, value in headers.items() if name.lower() != "allow"}
    return others | ({"Allow": with_head(allowed)} if allowed else {})
