"""ETags for reads that often have not changed: a client that has the answer gets 304 instead of the body.

The tag is a hash of the answer's whole content, so it is right whatever changed and whoever asks.
"""

import hashlib
from typing import Any, TypeVar

import msgspec
from litestar import Request, Response
from litestar.openapi.datastructures import ResponseSpec

T = TypeVar("T")
TAG_BYTES = 12
NOT_MODIFIED: dict[int, ResponseSpec] = {
    304: ResponseSpec(
        data_container=None, description="Unchanged since the ETag that was sent.", generate_examples=False
    )
}
"""For `responses=` of a route that answers with an ETag."""


def with_etag(request: Request[Any, Any, Any], view: T) -> Response[T]:
    """The view with its ETag, or 304 if the client has it.

    It differs by viewer and is stored nowhere on its way, nor by the browser; an app that keeps the tag may ask again.
    """
    content = msgspec.json.encode(view)
    etag = make_etag(content)
    headers = {"ETag": etag, "Cache-Control": "private, no-store", "Vary": "Authorization, Cookie"}
    if etag_matches(_if_none_match(request), etag):
        return Response(None, status_code=304, headers=headers)  # pyright: ignore[reportReturnType] - 304 has no content
    return Response(content, headers=headers, media_type="application/json")  # pyright: ignore[reportReturnType] - encoded once


def make_etag(content: bytes) -> str:
    """A strong ETag of this content."""
    return f'"{hashlib.blake2b(content, digest_size=TAG_BYTES).hexdigest()}"'


def _if_none_match(request: Request[Any, Any, Any]) -> str:
    """The header as it was sent, without making a mapping of all headers for it."""
    sent = [value for name, value in request.scope["headers"] if name == b"if-none-match"]
    return b",".join(sent).decode("latin-1") if sent else ""


def etag_matches(if_none_match: str, etag: str) -> bool:
    """Whether an If-None-Match header has this tag; weak tags match too, as RFC 9110 says for reads."""
    return any(each.strip().removeprefix("W/") in {etag, "*"} for each in if_none_match.split(","))
