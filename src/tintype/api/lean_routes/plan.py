"""How a lean route is called: what of a request becomes which argument, read once from the route's signature."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.params import BodyKwarg, ParameterKwarg
from litestar.routes import HTTPRoute

LEAN = "lean"
"""The option of routes that are called without the framework."""
VIEWER, ROOMS, REQUEST, BODY = frozenset({"viewer", "guest"}), "rooms", "request", "data"
MAX_SEGMENT_LENGTH = 200


@dataclass(frozen=True)
class HeaderArgument:
    """An optional header that becomes an argument."""

    name: str
    header: bytes
    max_length: int


@dataclass(frozen=True)
class RoutePlan:
    """A lean route."""

    handler: HTTPRouteHandler
    method: str
    template: str
    segments: tuple[str | None, ...]
    """Of the path; None for those of parameters."""
    parameters: Mapping[int, tuple[str, re.Pattern[str]]]
    """The parameters in the path, by the number of their segment: name, and what they look like."""
    viewer: str = "viewer"
    headers: Sequence[HeaderArgument] = ()
    takes_body: bool = False
    takes_request: bool = False
    scope: str = field(default="")

    def match(self, segments: Sequence[str]) -> dict[str, Any] | None:
        """The arguments from a path of as many segments; None where it is another route's, or not well-formed."""
        found: dict[str, Any] = {}
        for number, (expected, given) in enumerate(zip(self.segments, segments, strict=True)):
            if expected is not None:
                if expected != given:
                    return None
                continue
            name, pattern = self.parameters[number]
            if not pattern.fullmatch(given):
                return None
            found[name] = given
        return found


def plans_of(app: Litestar) -> Iterator[RoutePlan]:
    """The plans of all routes that are marked as lean."""
    for route in (each for each in app.routes if isinstance(each, HTTPRoute)):
        for handler in route.route_handlers:
            if handler.opt.get(LEAN):
                yield _plan(route, handler)


def _plan(route: HTTPRoute, handler: HTTPRouteHandler) -> RoutePlan:
    segments = route.path_format.split("/")
    names = {each[1:-1]: number for number, each in enumerate(segments) if each.startswith("{")}
    parameters: dict[int, tuple[str, re.Pattern[str]]] = {}
    headers: list[HeaderArgument] = []
    given = set[str]()
    for name, about in handler.parsed_fn_signature.parameters.items():
        kwarg = about.kwarg_definition
        if name in names:
            parameters[names[name]] = (name, _pattern(kwarg))
        elif name in VIEWER or name in {ROOMS, REQUEST} or (name == BODY and isinstance(kwarg, BodyKwarg)):
            given.add(name)
        elif isinstance(kwarg, ParameterKwarg) and kwarg.param_type == "header" and kwarg.max_length:
            header = (kwarg.header or kwarg.name or name).lower().encode()
            headers.append(HeaderArgument(name, header, kwarg.max_length))
        else:
            raise TypeError(f"{route.path_format}: a lean route cannot take {name}; remove `lean=True`.")
    if ROOMS not in given or len(given & VIEWER) != 1:
        raise TypeError(
            f"{route.path_format}: a lean route takes the rooms and the viewer; remove `lean=True`."
        )
    [viewer] = given & VIEWER
    return RoutePlan(
        handler,
        next(iter(handler.http_methods)),
        route.path_format,
        tuple(None if each.startswith("{") else each for each in segments),
        parameters,
        viewer,
        headers,
        BODY in given,
        REQUEST in given,
        str(handler.opt.get("scope") or ""),
    )


def _pattern(kwarg: Any) -> re.Pattern[str]:
    return re.compile(getattr(kwarg, "pattern", None) or rf"[\w.@-]{{1,{MAX_SEGMENT_LENGTH}}}", re.ASCII)
