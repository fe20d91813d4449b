"""The values of a request that no log line may show: its credentials, its query and every text of its JSON body."""

import json
from collections.abc import Iterator, MutableMapping
from functools import partial
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from tintype.base.errors import Invalid
from tintype.base.json_depth import check_json_depth
from tintype.base.redaction import Secrets

BODY = "tintype_body"
"""The key in the ASGI scope under which a JSON body is kept while its request is answered."""
SECRET_HEADERS = frozenset({b"authorization", b"proxy-authorization", b"x-csrf-token", b"x-api-key"})
MAX_BODY_BYTES = 256 * 1024
Scope = MutableMapping[str, Any]


def secrets_of(scope: Scope) -> Secrets:
    """What finds the secrets of a request, at the time when a log line needs them."""
    return partial(_collect, scope)


def _collect(scope: Scope) -> set[str]:
    found = {text for name, value in scope["headers"] for text in _of_header(name, value.decode("latin-1"))}
    query = scope.get("query_string", b"").decode("latin-1")
    found.update(value for _, value in parse_qsl(query))
    found.update(pair.partition("=")[2] for pair in query.split("&"))
    return found | set(_of_body(scope.get(BODY, b"")))


def _of_header(name: bytes, value: str) -> Iterator[str]:
    if name in SECRET_HEADERS:
        yield value
        yield from value.split()[1:]
    elif name == b"cookie":
        yield value
        yield from (pair.partition("=")[2].strip() for pair in value.split(";"))
        try:
            yield from (morsel.value for morsel in SimpleCookie(value).values())
        except CookieError:
            return  # the values between the semicolons are known already


def _of_body(body: bytes) -> Iterator[str]:
    try:
        check_json_depth(body)
        yield from _texts(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeError, Invalid):
        yield from body[:MAX_BODY_BYTES].decode("utf-8", "replace").split('"')[1::2]


def _texts(value: Any) -> Iterator[str]:
    """Every text in parsed JSON, except the names of its fields."""
    if isinstance(value, str):
        # As it is, and as it stands in the repr or the JSON of something around it.
        yield from (value, repr(value)[1:-1], json.dumps(value)[1:-1])
        yield json.dumps(value, ensure_ascii=False)[1:-1]
    elif isinstance(value, dict):
        for each in value.values():  # pyright: ignore[reportUnknownVariableType] - parsed JSON
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType] - parsed JSON
            yield from _texts(each)
